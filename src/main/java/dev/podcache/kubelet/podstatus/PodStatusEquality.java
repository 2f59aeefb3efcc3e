package dev.podcache.kubelet.podstatus;

import static dev.podcache.kubelet.podstatus.PodParts.present;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.base.Strings;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodStatus;
import org.jspecify.annotations.Nullable;

/** Whether a status brings anything new, as far as the node is concerned. */
final class PodStatusEquality {

    // After isPodStatusByKubeletEqual of pkg/kubelet/status/status_manager.go of Kubernetes.

    private PodStatusEquality() {}

    /**
     * Whether {@code newer} says nothing that {@code older} does not say: the conditions of others and all times of
     * conditions are left out, and so is a condition that only {@code older} has. Both normalised.
     */
    static boolean equal(PodStatus older, PodStatus newer) {
        // most reports say just the same, and trees cost more than comparing
        if (older.equals(newer)) {
            return true;
        }
        for (PodCondition condition : present(newer.getConditions())) {
            if (isOurs(condition) && !isSame(PodParts.condition(older, condition.getType()), condition)) {
                return false;
            }
        }
        return withoutConditions(older).equals(withoutConditions(newer));
    }

    private static boolean isOurs(PodCondition condition) {
        return PodConditions.OWNED.contains(condition.getType())
                || PodConditions.DISRUPTION_TARGET.equals(condition.getType());
    }

    private static boolean isSame(@Nullable PodCondition older, PodCondition newer) {
        return older != null
                && same(older.getStatus(), newer.getStatus())
                && same(older.getReason(), newer.getReason())
                && same(older.getMessage(), newer.getMessage());
    }

    private static boolean same(@Nullable String a, @Nullable String b) {
        return Strings.nullToEmpty(a).equals(Strings.nullToEmpty(b));
    }

    private static ObjectNode withoutConditions(PodStatus status) {
        ObjectNode tree = CanonicalStatus.tree(status);
        tree.remove("conditions");
        return tree;
    }
}
