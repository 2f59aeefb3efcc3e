package dev.podcache.kubelet.podstatus;

import static dev.podcache.kubelet.podstatus.PodParts.present;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.base.Strings;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodStatus;
import org.jspecify.annotations.Nullable;

/** Compares statuses by the fields that the node writes. */
final class PodStatusEquality {

    // Follows isPodStatusByKubeletEqual of pkg/kubelet/status/status_manager.go of Kubernetes.

    private PodStatusEquality() {}

    /**
     * Returns whether {@code newer} needs no report if {@code older} was reported. Ignores conditions that others
     * write, the timestamps of conditions, and conditions that only {@code older} has. Both statuses must be
     * normalised.
     */
    static boolean equal(PodStatus older, PodStatus newer) {
        // most statuses are equal, and comparing objects is cheaper than building trees
        if (older.equals(newer)) {
            return true;
        }
        for (PodCondition condition : present(newer.getConditions())) {
            if (isWrittenByNode(condition) && !isEqual(PodParts.condition(older, condition.getType()), condition)) {
                return false;
            }
        }
        return withoutConditions(older).equals(withoutConditions(newer));
    }

    private static boolean isWrittenByNode(PodCondition condition) {
        return PodConditions.OWNED.contains(condition.getType())
                || PodConditions.DISRUPTION_TARGET.equals(condition.getType());
    }

    private static boolean isEqual(@Nullable PodCondition older, PodCondition newer) {
        return older != null
                && equalText(older.getStatus(), newer.getStatus())
                && equalText(older.getReason(), newer.getReason())
                && equalText(older.getMessage(), newer.getMessage());
    }

    private static boolean equalText(@Nullable String a, @Nullable String b) {
        return Strings.nullToEmpty(a).equals(Strings.nullToEmpty(b));
    }

    private static ObjectNode withoutConditions(PodStatus status) {
        ObjectNode tree = CanonicalStatus.tree(status);
        tree.remove("conditions");
        return tree;
    }
}
