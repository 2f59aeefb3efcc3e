package dev.podcache.pod;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.Reference;
import dev.podcache.object.Usage;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Every place of a pod that names a Secret or a ConfigMap, as the path of the field with the name. {@code []}
 * stands for an element of a list.
 */
@SuppressWarnings(
        "ImmutableEnumChecker") // kinds are constants, but fabric8 model classes keep them from being annotated so
enum ReferencePlace {
    PULL_SECRET(ObjectKind.SECRET, Usage.PULL, "spec.imagePullSecrets[].name"),
    INIT_ENV_SECRET(ObjectKind.SECRET, Usage.ENV, "spec.initContainers[].env[].valueFrom.secretKeyRef.name"),
    INIT_ENV_FROM_SECRET(ObjectKind.SECRET, Usage.ENV, "spec.initContainers[].envFrom[].secretRef.name"),
    ENV_SECRET(ObjectKind.SECRET, Usage.ENV, "spec.containers[].env[].valueFrom.secretKeyRef.name"),
    ENV_FROM_SECRET(ObjectKind.SECRET, Usage.ENV, "spec.containers[].envFrom[].secretRef.name"),
    EPHEMERAL_ENV_SECRET(ObjectKind.SECRET, Usage.ENV, "spec.ephemeralContainers[].env[].valueFrom.secretKeyRef.name"),
    EPHEMERAL_ENV_FROM_SECRET(ObjectKind.SECRET, Usage.ENV, "spec.ephemeralContainers[].envFrom[].secretRef.name"),
    SECRET_VOLUME(ObjectKind.SECRET, Usage.VOLUME, "spec.volumes[].secret.secretName"),
    PROJECTED_SECRET(ObjectKind.SECRET, Usage.VOLUME, "spec.volumes[].projected.sources[].secret.name"),
    AZURE_FILE(ObjectKind.SECRET, Usage.VOLUME, "spec.volumes[].azureFile.secretName"),
    CEPHFS(ObjectKind.SECRET, Usage.VOLUME, "spec.volumes[].cephfs.secretRef.name"),
    CINDER(ObjectKind.SECRET, Usage.VOLUME, "spec.volumes[].cinder.secretRef.name"),
    CSI(ObjectKind.SECRET, Usage.VOLUME, "spec.volumes[].csi.nodePublishSecretRef.name"),
    FLEX_VOLUME(ObjectKind.SECRET, Usage.VOLUME, "spec.volumes[].flexVolume.secretRef.name"),
    ISCSI(ObjectKind.SECRET, Usage.VOLUME, "spec.volumes[].iscsi.secretRef.name"),
    RBD(ObjectKind.SECRET, Usage.VOLUME, "spec.volumes[].rbd.secretRef.name"),
    SCALE_IO(ObjectKind.SECRET, Usage.VOLUME, "spec.volumes[].scaleIO.secretRef.name"),
    STORAGE_OS(ObjectKind.SECRET, Usage.VOLUME, "spec.volumes[].storageos.secretRef.name"),
    INIT_ENV_CONFIG_MAP(ObjectKind.CONFIG_MAP, Usage.ENV, "spec.initContainers[].env[].valueFrom.configMapKeyRef.name"),
    INIT_ENV_FROM_CONFIG_MAP(ObjectKind.CONFIG_MAP, Usage.ENV, "spec.initContainers[].envFrom[].configMapRef.name"),
    ENV_CONFIG_MAP(ObjectKind.CONFIG_MAP, Usage.ENV, "spec.containers[].env[].valueFrom.configMapKeyRef.name"),
    ENV_FROM_CONFIG_MAP(ObjectKind.CONFIG_MAP, Usage.ENV, "spec.containers[].envFrom[].configMapRef.name"),
    EPHEMERAL_ENV_CONFIG_MAP(
            ObjectKind.CONFIG_MAP, Usage.ENV, "spec.ephemeralContainers[].env[].valueFrom.configMapKeyRef.name"),
    EPHEMERAL_ENV_FROM_CONFIG_MAP(
            ObjectKind.CONFIG_MAP, Usage.ENV, "spec.ephemeralContainers[].envFrom[].configMapRef.name"),
    CONFIG_MAP_VOLUME(ObjectKind.CONFIG_MAP, Usage.VOLUME, "spec.volumes[].configMap.name"),
    PROJECTED_CONFIG_MAP(ObjectKind.CONFIG_MAP, Usage.VOLUME, "spec.volumes[].projected.sources[].configMap.name");

    static final String NAMESPACE = "shop";

    final ObjectKind<?> kind;
    final Usage usage;
    final String path;

    ReferencePlace(ObjectKind<?> kind, Usage usage, String path) {
        this.kind = kind;
        this.usage = usage;
        this.path = path;
    }

    /** A name put into a place; null and empty are names that a pod may contain too. */
    record Placed(ReferencePlace place, @Nullable String name) {

        Reference reference() {
            return new Reference(ObjectKey.of(NAMESPACE, String.valueOf(name)), place.usage);
        }
    }

    /** A pod with each of the names in its place, each in containers, volumes and list elements of its own. */
    static Pod pod(List<Placed> names) {
        Map<String, @Nullable Object> pod = new HashMap<>();
        pod.put("metadata", Map.of("namespace", NAMESPACE, "name", "cart", "uid", "u-1"));
        pod.put("spec", new LinkedHashMap<>());
        for (Placed placed : names) {
            put(pod, Arrays.asList(placed.place.path.split("\\.")), placed.name);
        }
        return Serialization.unmarshal(Serialization.asJson(pod), Pod.class);
    }

    static Pod pod(Placed... names) {
        return pod(List.of(names));
    }

    /** The references that {@code names} amount to, of one kind. */
    static Set<Reference> references(List<Placed> names, ObjectKind<?> kind) {
        return names.stream()
                .filter(placed -> placed.place.kind.equals(kind))
                .filter(placed -> placed.name != null && !placed.name.isEmpty())
                .map(Placed::reference)
                .collect(Collectors.toSet());
    }

    @SuppressWarnings("unchecked") // the tree is made of nothing but the maps and lists created here
    private static void put(Map<String, @Nullable Object> parent, List<String> path, @Nullable String name) {
        String step = path.get(0);
        if (path.size() == 1) {
            parent.put(step, name);
        } else if (step.endsWith("[]")) {
            String field = step.substring(0, step.length() - 2);
            List<Object> list = (List<Object>) parent.computeIfAbsent(field, any -> new ArrayList<>());
            Map<String, @Nullable Object> element = new LinkedHashMap<>();
            list.add(element);
            put(element, path.subList(1, path.size()), name);
        } else {
            Object child = parent.computeIfAbsent(step, any -> new LinkedHashMap<>());
            put((Map<String, @Nullable Object>) child, path.subList(1, path.size()), name);
        }
    }
}
