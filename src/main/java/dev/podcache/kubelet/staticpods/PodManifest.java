package dev.podcache.kubelet.staticpods;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.hash.Hashing;
import dev.podcache.object.ModelJson;
import dev.podcache.object.ModelMismatchException;
import dev.podcache.object.ModelTypes;
import dev.podcache.object.Names;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.Quoted;
import dev.podcache.pod.PodOrigin;
import dev.podcache.yaml.YamlNode;
import dev.podcache.yaml.YamlReader;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Toleration;
import io.fabric8.kubernetes.api.model.TolerationBuilder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Makes a static pod of the content of a file: its name gets the node's name as a suffix, and its UID is a hash of the
 * content, so that another content is another pod. Follows {@code pkg/kubelet/config/common.go}. Pure functions.
 */
final class PodManifest {

    private static final JsonMapper MAPPER = JsonMapper.builder()
            .enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
            .build();

    /** So few values that a small agent survives a hostile file; a pod has some hundred. */
    private static final YamlReader.Limits LIMITS = new YamlReader.Limits(StaticPodFolder.LARGEST_FILE, 100_000);

    private static final Pattern UID = Pattern.compile("[A-Za-z0-9](?:[-A-Za-z0-9]{0,62})");
    private static final int HASH_LENGTH = 32;

    private static final List<String> RESTART_POLICIES = List.of("Always", "OnFailure", "Never");
    private static final List<String> PULL_POLICIES = List.of("Always", "IfNotPresent", "Never");
    private static final List<String> MESSAGE_POLICIES = List.of("File", "FallbackToLogsOnError");
    private static final List<String> DNS_POLICIES =
            List.of("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None");
    private static final List<String> PROTOCOLS = List.of("TCP", "UDP", "SCTP");

    private static final Toleration NO_EXECUTE = new TolerationBuilder()
            .withOperator("Exists")
            .withEffect("NoExecute")
            .build();

    private PodManifest() {}

    /**
     * Returns the static pod.
     *
     * @param file part of the hash
     * @throws IllegalArgumentException if the content is not a pod that can run without an API server; the message says
     *     why, and quotes no value of the content but names
     */
    static Pod parse(byte[] content, Path file, String node) {
        Object document = document(content);
        Pod written = pod(document);
        String uid = written.getMetadata().getUid();
        if (uid == null || uid.isEmpty()) {
            uid = hash(document, file, node);
        } else if (!UID.matcher(uid).matches()) {
            throw new IllegalArgumentException("metadata.uid " + Quoted.value(uid)
                    + " must have at most 63 letters, digits and dashes; or leave it out");
        }
        Pod pod = new PodBuilder()
                .withMetadata(metadata(written.getMetadata(), uid, node))
                .withSpec(written.getSpec())
                .withNewStatus()
                .withPhase("Pending")
                .endStatus()
                .build();
        complete(pod.getSpec(), node);
        requireLegal(pod.getSpec());
        requireIndependent(pod);
        return pod;
    }

    private static Object document(byte[] content) {
        List<Object> documents = YamlReader.read(content, LIMITS).stream()
                .map(YamlNode::value)
                .flatMap(Stream::ofNullable)
                .toList();
        if (documents.isEmpty()) {
            throw new IllegalArgumentException("it is empty");
        }
        if (documents.size() > 1) {
            throw new IllegalArgumentException("it has more than one document: write a file for each pod");
        }
        return documents.get(0);
    }

    private static Pod pod(Object document) {
        JsonNode tree = ModelJson.treeOfValues(document);
        String apiVersion = tree.path("apiVersion").asText();
        String kind = tree.path("kind").asText();
        if (!kind.equals("Pod") || !apiVersion.equals("v1")) {
            throw new IllegalArgumentException("it has kind " + Quoted.value(kind) + " of apiVersion "
                    + Quoted.value(apiVersion) + ": only kind Pod of apiVersion v1 can be a static pod");
        }
        Pod pod;
        try {
            ModelTypes.settleNulls(tree, Pod.class);
            pod = ModelJson.model(tree, Pod.class);
        } catch (ModelMismatchException e) {
            throw new IllegalArgumentException(
                    (e.path().isEmpty() ? "the pod" : Quoted.text(e.path())) + " has the wrong type");
        }
        requireTypes(tree);
        require(pod);
        return pod;
    }

    /** Judges only what is kept. Modifies the tree. */
    private static void requireTypes(JsonNode tree) {
        if (tree instanceof ObjectNode pod
                && pod.retain("metadata", "spec").get("metadata") instanceof ObjectNode own) {
            own.retain("name", "namespace", "uid", "labels", "annotations");
        }
        ModelTypes.mistyped(tree, Pod.class).ifPresent(value -> {
            throw new IllegalArgumentException(Quoted.text(value.toString()));
        });
    }

    private static void require(Pod pod) {
        ObjectMeta metadata = pod.getMetadata();
        if (metadata == null || metadata.getName() == null || metadata.getName().isEmpty()) {
            throw new IllegalArgumentException("the pod has no metadata.name");
        }
        if (pod.getSpec() == null || pod.getSpec().getContainers().isEmpty()) {
            throw new IllegalArgumentException("the pod has no spec.containers");
        }
        if (!pod.getSpec().getEphemeralContainers().isEmpty()) {
            throw new IllegalArgumentException(
                    "the pod has spec.ephemeralContainers, which cannot be set on create: make them containers");
        }
        Set<@Nullable String> names = new HashSet<>();
        List<Container> containers = new ArrayList<>(pod.getSpec().getInitContainers());
        containers.addAll(pod.getSpec().getContainers());
        for (Container container : containers) {
            String name = container.getName();
            if (name == null || name.isEmpty()) {
                throw new IllegalArgumentException("a container of the pod has no name");
            }
            if (!names.add(name)) {
                throw new IllegalArgumentException("two containers of the pod are named " + Quoted.value(name));
            }
        }
    }

    /** Keeps what describes the pod, and not what an API server would have set. */
    private static ObjectMeta metadata(ObjectMeta written, String uid, String node) {
        String namespace = written.getNamespace();
        boolean isSet = namespace != null && !namespace.isEmpty();
        ObjectKey key = ObjectKey.validated(
                isSet ? namespace : "default", written.getName() + "-" + node.toLowerCase(Locale.ROOT));
        return new ObjectMetaBuilder()
                .withNamespace(key.namespace())
                .withName(key.name())
                .withUid(uid)
                .withLabels(written.getLabels())
                .withAnnotations(written.getAnnotations())
                .removeFromAnnotations(PodOrigin.MIRROR)
                .addToAnnotations(PodOrigin.HASH, uid)
                .addToAnnotations(PodOrigin.SOURCE, "file")
                .build();
    }

    private static void complete(PodSpec spec, String node) {
        spec.setNodeName(node);
        List<Toleration> tolerations = new ArrayList<>(spec.getTolerations());
        if (!tolerations.contains(NO_EXECUTE)) {
            tolerations.add(NO_EXECUTE);
        }
        spec.setTolerations(tolerations);
        PodDefaults.apply(spec);
    }

    /** The words that a node decides by. One that it does not know would mean what no word means. */
    private static void requireLegal(PodSpec spec) {
        requireWord("spec.restartPolicy", spec.getRestartPolicy(), RESTART_POLICIES);
        requireWord("spec.dnsPolicy", spec.getDnsPolicy(), DNS_POLICIES);
        for (int i = 0; i < spec.getVolumes().size(); i++) {
            requireLabel(
                    "spec.volumes[" + i + "].name", spec.getVolumes().get(i).getName());
        }
        requireLegal("spec.initContainers", spec.getInitContainers());
        requireLegal("spec.containers", spec.getContainers());
    }

    private static void requireLegal(String field, List<Container> containers) {
        for (int i = 0; i < containers.size(); i++) {
            String path = field + "[" + i + "].";
            Container container = containers.get(i);
            requireLabel(path + "name", container.getName());
            if (container.getRestartPolicy() != null) {
                requireWord(path + "restartPolicy", container.getRestartPolicy(), RESTART_POLICIES);
            }
            requireWord(path + "imagePullPolicy", container.getImagePullPolicy(), PULL_POLICIES);
            requireWord(path + "terminationMessagePolicy", container.getTerminationMessagePolicy(), MESSAGE_POLICIES);
            for (int j = 0; j < container.getPorts().size(); j++) {
                String protocol = container.getPorts().get(j).getProtocol();
                requireWord(path + "ports[" + j + "].protocol", protocol, PROTOCOLS);
            }
        }
    }

    private static void requireWord(String path, String word, List<String> allowed) {
        if (!allowed.contains(word)) {
            throw new IllegalArgumentException(path + " must be one of " + String.join(", ", allowed));
        }
    }

    private static void requireLabel(String path, @Nullable String name) {
        if (name == null || !Names.isLabel(name)) {
            throw new IllegalArgumentException(
                    path + " " + Quoted.value(name == null ? "" : name)
                            + " must be at most 63 lower-case letters, digits and '-', beginning and ending with a letter or digit");
        }
    }

    private static void requireIndependent(Pod pod) {
        String kind = ApiReferences.first(pod);
        if (kind != null) {
            throw new IllegalArgumentException("static pods may not refer to " + kind
                    + ", because they must start without an API server: use files of the node");
        }
    }

    /** Returns a hash of the fields. Comments and the order of fields do not count. */
    private static String hash(Object document, Path file, String node) {
        try {
            return Hashing.sha256()
                    .newHasher()
                    .putString(MAPPER.writeValueAsString(document), StandardCharsets.UTF_8)
                    .putString("host:" + node + "file:" + file, StandardCharsets.UTF_8)
                    .hash()
                    .toString()
                    .substring(0, HASH_LENGTH);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("cannot write a tree as JSON", e);
        }
    }
}
