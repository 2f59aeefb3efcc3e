package dev.podcache.kubelet.podsync;

import dev.podcache.pod.PodEnd;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodReadinessGate;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/** Decides which changes of a pod require a sync. Pure functions. */
final class PodChange {

    private PodChange() {}

    /** Returns whether a sync that uses {@code before} must be interrupted, because the pod is to end, or sooner. */
    static boolean isUrgent(Pod before, Pod after) {
        if (!PodEnd.isDue(before)) {
            return PodEnd.isDue(after);
        }
        Long earlier = before.getMetadata().getDeletionGracePeriodSeconds();
        Long now = after.getMetadata().getDeletionGracePeriodSeconds();
        return earlier != null && now != null && now < earlier;
    }

    /**
     * Returns whether the change from {@code before} to {@code after} requires a sync. Changes of the status do not,
     * because the watch also delivers the node's own reports, with two exceptions: the pod has ended, or somebody has set
     * the condition of a readiness gate.
     */
    static boolean requiresSync(Pod before, Pod after) {
        ObjectMeta older = before.getMetadata();
        ObjectMeta newer = after.getMetadata();
        return !Objects.equals(older.getDeletionTimestamp(), newer.getDeletionTimestamp())
                || !Objects.equals(older.getDeletionGracePeriodSeconds(), newer.getDeletionGracePeriodSeconds())
                || !Objects.equals(older.getLabels(), newer.getLabels())
                || !Objects.equals(older.getAnnotations(), newer.getAnnotations())
                || !Objects.equals(before.getSpec(), after.getSpec())
                || (PodEnd.isTerminal(after) && !PodEnd.isTerminal(before))
                || !gates(before, after).equals(gates(after, after));
    }

    /** Returns the states of the readiness gates in the spec of {@code pod}, as the status of {@code of} shows them. */
    private static Map<String, String> gates(Pod of, Pod pod) {
        Map<String, String> gates = new HashMap<>();
        if (pod.getSpec() != null && of.getStatus() != null) {
            for (PodReadinessGate gate : pod.getSpec().getReadinessGates()) {
                of.getStatus().getConditions().stream()
                        .filter(condition -> gate.getConditionType().equals(condition.getType()))
                        .forEach(condition -> gates.put(condition.getType(), String.valueOf(condition.getStatus())));
            }
        }
        return gates;
    }
}
