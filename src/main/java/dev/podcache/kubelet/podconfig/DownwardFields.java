package dev.podcache.kubelet.podconfig;

import io.fabric8.kubernetes.api.model.ObjectFieldSelector;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Resolves a {@code fieldRef} of the downward API. Variables can refer to metadata, spec and status of the pod, files
 * only to metadata.
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
    private final ConfigTarget target;

    DownwardFields(Pod pod, PodPlacement placement, ConfigTarget target) {
        this.pod = pod;
        this.placement = placement;
        this.target = target;
    }

    /** Returns the value of a field for a variable; empty if the field has none. */
    String forVariable(ObjectFieldSelector selector) {
        String path = path(selector);
        return switch (path) {
            case "spec.nodeName", "spec.host" -> Nullables.orEmpty(pod.getSpec().getNodeName());
            case "spec.serviceAccountName" -> Nullables.orEmpty(pod.getSpec().getServiceAccountName());
            case "status.hostIP" -> hostIps().get(0);
            case "status.hostIPs" -> String.join(",", hostIps());
            case "status.podIP" ->
                placement.podIps().isEmpty() ? "" : placement.podIps().get(0);
            case "status.podIPs" -> String.join(",", placement.podIps());
            default -> metadata(path);
        };
    }

    /** Returns the value of a field for a file; empty if the field has none. */
    String forFile(ObjectFieldSelector selector) {
        return metadata(path(selector));
    }

    private String path(ObjectFieldSelector selector) {
        String version = Nullables.orEmpty(selector.getApiVersion());
        if (!version.isEmpty() && !version.equals("v1")) {
            throw target.failure("unsupported pod version: " + version);
        }
        return Nullables.orEmpty(selector.getFieldPath());
    }

    private List<String> hostIps() {
        if (placement.hostIps().isEmpty()) {
            throw target.failure("host IP unknown; known addresses: []");
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
            case "metadata.name" -> Nullables.orEmpty(metadata.getName());
            case "metadata.namespace" -> Nullables.orEmpty(metadata.getNamespace());
            case "metadata.uid" -> Nullables.orEmpty(metadata.getUid());
            case "metadata.labels" -> lines(metadata.getLabels());
            case "metadata.annotations" -> lines(metadata.getAnnotations());
            default -> throw target.failure("unsupported fieldPath: " + path);
        };
    }

    private String element(String path, String map, String key) {
        ObjectMeta metadata = pod.getMetadata();
        Map<String, String> elements = switch (map) {
            case "metadata.labels" -> Nullables.orEmpty(metadata.getLabels());
            case "metadata.annotations" -> Nullables.orEmpty(metadata.getAnnotations());
            default -> throw target.failure("fieldPath \"" + path + "\" does not support subscript");
        };
        if (!isLegal(map, key)) {
            throw target.failure("invalid key subscript in " + map + ": \"" + key + "\"");
        }
        return Nullables.orEmpty(elements.get(key));
    }

    /** Returns whether {@code key} is a qualified name. Keys of annotations may have upper-case letters anywhere. */
    private static boolean isLegal(String map, String key) {
        String checked = map.equals("metadata.annotations") ? key.toLowerCase(Locale.ROOT) : key;
        return QUALIFIED_NAME.matcher(checked).matches();
    }

    private static String lines(@Nullable Map<String, String> map) {
        return new TreeMap<>(Nullables.orEmpty(map))
                .entrySet().stream()
                        .map(entry -> entry.getKey() + "=" + GoQuoted.of(entry.getValue()))
                        .collect(Collectors.joining("\n"));
    }
}
