package dev.podcache.kubelet.podconfig;

import com.google.common.collect.ImmutableList;
import io.fabric8.kubernetes.api.model.ObjectFieldSelector;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Fields of a pod that its own containers can ask for ({@code fieldRef}): of its metadata anywhere, of its
 * spec and status in variables only.
 *
 * <p>Follows {@code podFieldSelectorRuntimeValue} of the kubelet's {@code kubelet_pods.go} and {@code pkg/fieldpath}.
 */
final class DownwardFields {

    private static final Pattern SUBSCRIPTED = Pattern.compile("([^\\[\\]']*)\\['([^'\\[\\]]*)']");
    private static final String NAME = "[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?";
    private static final String DOMAIN = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*";
    private static final Pattern QUALIFIED_NAME = Pattern.compile("(?:" + DOMAIN + "/)?" + NAME);

    private final Pod pod;
    private final PodPlacement placement;
    private final Subject subject;

    DownwardFields(Pod pod, PodPlacement placement, Subject subject) {
        this.pod = pod;
        this.placement = placement;
        this.subject = subject;
    }

    /** The value for a variable; "" if the pod has none. */
    String forVariable(ObjectFieldSelector selector) {
        String path = path(selector);
        return switch (path) {
            case "spec.nodeName", "spec.host" ->
                AbsentObject.orEmpty(pod.getSpec().getNodeName());
            case "spec.serviceAccountName" -> AbsentObject.orEmpty(pod.getSpec().getServiceAccountName());
            case "status.hostIP" -> hostIps().get(0);
            case "status.hostIPs" -> String.join(",", hostIps());
            case "status.podIP" ->
                placement.podIps().isEmpty() ? "" : placement.podIps().get(0);
            case "status.podIPs" -> String.join(",", placement.podIps());
            default -> metadata(path);
        };
    }

    /** The content of a file. */
    String forFile(ObjectFieldSelector selector) {
        return metadata(path(selector));
    }

    private String path(ObjectFieldSelector selector) {
        String version = AbsentObject.orEmpty(selector.getApiVersion());
        if (!version.isEmpty() && !version.equals("v1")) {
            throw subject.failure("unsupported pod version: " + version);
        }
        return AbsentObject.orEmpty(selector.getFieldPath());
    }

    private ImmutableList<String> hostIps() {
        if (placement.hostIps().isEmpty()) {
            throw subject.failure("host IP unknown; known addresses: []");
        }
        return placement.hostIps();
    }

    private String metadata(String path) {
        ObjectMeta metadata = pod.getMetadata();
        Matcher subscripted = SUBSCRIPTED.matcher(path);
        if (subscripted.matches()) {
            return element(path, subscripted.group(1), subscripted.group(2));
        }
        return switch (path) {
            case "metadata.name" -> AbsentObject.orEmpty(metadata.getName());
            case "metadata.namespace" -> AbsentObject.orEmpty(metadata.getNamespace());
            case "metadata.uid" -> AbsentObject.orEmpty(metadata.getUid());
            case "metadata.labels" -> lines(metadata.getLabels());
            case "metadata.annotations" -> lines(metadata.getAnnotations());
            default -> throw subject.failure("unsupported fieldPath: " + path);
        };
    }

    private String element(String path, String map, String key) {
        ObjectMeta metadata = pod.getMetadata();
        Map<String, String> elements = switch (map) {
            case "metadata.labels" -> AbsentObject.orEmpty(metadata.getLabels());
            case "metadata.annotations" -> AbsentObject.orEmpty(metadata.getAnnotations());
            default -> throw subject.failure("fieldPath \"" + path + "\" does not support subscript");
        };
        if (!isLegal(map, key)) {
            throw subject.failure("invalid key subscript in " + map + ": \"" + key + "\"");
        }
        return AbsentObject.orEmpty(elements.get(key));
    }

    /** Keys of annotations may differ from those of labels in the case of their letters only. */
    private static boolean isLegal(String map, String key) {
        String checked = map.equals("metadata.annotations") ? key.toLowerCase(Locale.ROOT) : key;
        return QUALIFIED_NAME.matcher(checked).matches();
    }

    private static String lines(@Nullable Map<String, String> map) {
        return new TreeMap<>(AbsentObject.orEmpty(map))
                .entrySet().stream()
                        .map(entry -> entry.getKey() + "=" + GoQuoted.of(entry.getValue()))
                        .collect(Collectors.joining("\n"));
    }
}
