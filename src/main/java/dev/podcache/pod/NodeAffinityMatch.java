package dev.podcache.pod;

import com.google.common.primitives.Longs;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeSelector;
import io.fabric8.kubernetes.api.model.NodeSelectorRequirement;
import io.fabric8.kubernetes.api.model.NodeSelectorTerm;
import io.fabric8.kubernetes.api.model.PodSpec;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a node is one that a pod's node selector and required node affinity accept. Pure functions. Follows {@code
 * GetRequiredNodeAffinity} of {@code k8s.io/component-helpers/scheduling/corev1/nodeaffinity}.
 */
public final class NodeAffinityMatch {

    private NodeAffinityMatch() {}

    /** Returns whether the pod may run on the node. A requirement that is not valid accepts no node. */
    public static boolean accepts(PodSpec pod, Node node) {
        Map<String, String> labels = node.getMetadata().getLabels() == null
                ? Map.of()
                : node.getMetadata().getLabels();
        if (pod.getNodeSelector() != null
                && !labels.entrySet().containsAll(pod.getNodeSelector().entrySet())) {
            return false;
        }
        if (pod.getAffinity() == null || pod.getAffinity().getNodeAffinity() == null) {
            return true;
        }
        @Nullable
        NodeSelector required = pod.getAffinity().getNodeAffinity().getRequiredDuringSchedulingIgnoredDuringExecution();
        return required == null
                || required.getNodeSelectorTerms().stream()
                        .anyMatch(
                                term -> matches(term, labels, node.getMetadata().getName()));
    }

    /** A term without requirements accepts no node. */
    private static boolean matches(NodeSelectorTerm term, Map<String, String> labels, String name) {
        return !(term.getMatchExpressions().isEmpty() && term.getMatchFields().isEmpty())
                && term.getMatchExpressions().stream().allMatch(each -> matches(each, labels.get(each.getKey())))
                && term.getMatchFields().stream()
                        .allMatch(each -> "metadata.name".equals(each.getKey())
                                && each.getValues().size() == 1
                                && List.of("In", "NotIn").contains(String.valueOf(each.getOperator()))
                                && matches(each, name));
    }

    private static boolean matches(NodeSelectorRequirement requirement, @Nullable String value) {
        List<String> values = requirement.getValues();
        return switch (String.valueOf(requirement.getOperator())) {
            case "In" -> value != null && values.contains(value);
            case "NotIn" -> !values.isEmpty() && !(value != null && values.contains(value));
            case "Exists" -> values.isEmpty() && value != null;
            case "DoesNotExist" -> values.isEmpty() && value == null;
            case "Gt" -> compare(value, values) > 0;
            case "Lt" -> compare(value, values) < 0;
            default -> false;
        };
    }

    /** Returns how a label compares to the only value, both of them integers; 0 if that cannot be said. */
    private static int compare(@Nullable String label, List<String> values) {
        Long number = label == null ? null : Longs.tryParse(label);
        Long limit = values.size() == 1 ? Longs.tryParse(values.get(0)) : null;
        return number == null || limit == null ? 0 : number.compareTo(limit);
    }
}
