package dev.podcache.pod;

import static dev.podcache.pod.PodSpecNames.present;

import com.google.common.collect.Iterables;
import dev.podcache.object.Quoted;
import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.LabelSelectorRequirement;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Decides which labels a selector selects. Pure functions.
 *
 * <p>Follows {@code LabelSelectorAsSelector} of {@code k8s.io/apimachinery/pkg/apis/meta/v1}: no selector selects nothing, and
 * an empty one everything.
 */
public final class LabelSelectorMatch {

    private LabelSelectorMatch() {}

    /**
     * Returns whether {@code selector} selects an object with these labels.
     *
     * @param labels null for none
     * @throws IllegalArgumentException if the selector is not legal; the message says why
     */
    public static boolean selects(@Nullable LabelSelector selector, @Nullable Map<String, String> labels) {
        if (selector == null) {
            return false;
        }
        require(selector);
        Map<String, String> has = labels == null ? Map.of() : labels;
        Map<String, String> wanted = selector.getMatchLabels() == null ? Map.of() : selector.getMatchLabels();
        boolean all = has.entrySet().containsAll(wanted.entrySet());
        for (LabelSelectorRequirement requirement : present(selector.getMatchExpressions())) {
            all &= isMet(requirement, has);
        }
        return all;
    }

    /**
     * Checks a selector, also one that is compared with no object.
     *
     * @throws IllegalArgumentException if it is not legal; the message says why
     */
    public static void require(LabelSelector selector) {
        if (selector.getMatchLabels() != null) {
            selector.getMatchLabels().keySet().forEach(LabelSelectorMatch::requireKey);
        }
        if (selector.getMatchExpressions() != null) {
            for (@Nullable LabelSelectorRequirement requirement : selector.getMatchExpressions()) {
                if (requirement == null) {
                    throw new IllegalArgumentException("a requirement of matchExpressions is null");
                }
                require(requirement);
            }
        }
    }

    private static void require(LabelSelectorRequirement requirement) {
        requireKey(requirement.getKey());
        String operator = String.valueOf(requirement.getOperator());
        @Nullable List<String> values = requirement.getValues();
        boolean none = values == null || values.isEmpty();
        switch (operator) {
            case "In", "NotIn" -> {
                if (none) {
                    throw new IllegalArgumentException(
                            "values: for 'in', 'notin' operators, values set can't be empty");
                }
            }
            case "Exists", "DoesNotExist" -> {
                if (!none) {
                    throw new IllegalArgumentException(
                            "values: values set must be empty for exists and does not exist");
                }
            }
            default ->
                throw new IllegalArgumentException(Quoted.value(operator) + " is not a valid label selector operator");
        }
        if (values != null && values.stream().anyMatch(value -> value == null)) {
            throw new IllegalArgumentException("values: a value is null");
        }
    }

    private static void requireKey(@Nullable String key) {
        if (key == null || key.isEmpty()) {
            throw new IllegalArgumentException("key: name part must be non-empty");
        }
    }

    private static boolean isMet(LabelSelectorRequirement requirement, Map<String, String> labels) {
        @Nullable String value = labels.get(requirement.getKey());
        @Nullable List<String> values = requirement.getValues();
        boolean isListed = value != null && Iterables.contains(present(values), value);
        return switch (requirement.getOperator()) {
            case "In" -> isListed;
            case "NotIn" -> !isListed;
            case "Exists" -> value != null;
            // no other is legal but DoesNotExist
            default -> value == null;
        };
    }
}
