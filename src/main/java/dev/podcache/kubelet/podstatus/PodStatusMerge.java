package dev.podcache.kubelet.podstatus;

import static dev.podcache.kubelet.podstatus.PodParts.present;

import dev.podcache.pod.PodEnd;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Merges the node's status of a pod with the server's: keeps what others wrote, and replaces the rest by the node's.
 * Pure functions.
 */
final class PodStatusMerge {

    // Follows mergePodStatus of pkg/kubelet/status/status_manager.go of Kubernetes.

    private PodStatusMerge() {}

    /**
     * Returns the status to write, as a new object.
     *
     * @param server the status at the API server
     * @param ours the node's status
     * @param mayRun whether containers of the pod may still run; if so, the pod does not become Succeeded or Failed yet
     * @param now the transition time of conditions that the merge changes
     */
    static PodStatus merge(PodStatus server, PodStatus ours, boolean mayRun, String now) {
        PodStatus merged = PodParts.copy(ours);
        boolean ends = !PodEnd.isTerminal(server.getPhase()) && PodEnd.isTerminal(ours.getPhase());
        merged.setConditions(conditions(server, merged, ends && !mayRun, now));
        PodStatus theirs = PodParts.copy(server);
        merged.setResourceClaimStatuses(theirs.getResourceClaimStatuses());
        merged.setExtendedResourceClaimStatus(theirs.getExtendedResourceClaimStatus());
        // the node does not write fields that the model classes do not have
        merged.setAdditionalProperties(theirs.getAdditionalProperties());
        if (ends && mayRun) {
            merged.setPhase(server.getPhase());
            merged.setReason(server.getReason());
            merged.setMessage(server.getMessage());
        }
        if (PodEnd.isTerminal(merged.getPhase())
                && (isTrue(merged, PodConditions.READY) || isTrue(merged, PodConditions.CONTAINERS_READY))) {
            setTerminal(server, merged, PodConditions.CONTAINERS_READY, now);
            setTerminal(server, merged, PodConditions.READY, now);
        }
        return merged;
    }

    /**
     * Returns the node's status of a pod, in the phase in which the pod has ended according to the server: no pod
     * leaves such a phase, and the watch that tells the node of it may lag behind.
     */
    static PodStatus withEnd(PodStatus server, PodStatus ours) {
        if (!PodEnd.isTerminal(server.getPhase()) || PodEnd.isTerminal(ours.getPhase())) {
            return ours;
        }
        PodStatus ended = PodParts.copy(ours);
        ended.setPhase(server.getPhase());
        ended.setReason(server.getReason());
        ended.setMessage(server.getMessage());
        return ended;
    }

    private static List<PodCondition> conditions(
            PodStatus server, PodStatus ours, boolean becomesTerminal, String now) {
        List<PodCondition> merged = PodConditions.copiesOfOthers(server);
        for (PodCondition condition : present(ours.getConditions())) {
            condition.setObservedGeneration(ours.getObservedGeneration());
            if (PodConditions.OWNED.contains(condition.getType())) {
                merged.add(condition);
            } else if (becomesTerminal && PodConditions.DISRUPTION_TARGET.equals(condition.getType())) {
                condition.setLastTransitionTime(
                        StatusContinuity.transition(PodParts.condition(server, condition.getType()), condition, now));
                PodConditions.put(merged, condition);
            }
        }
        return merged;
    }

    private static void setTerminal(PodStatus server, PodStatus merged, String type, String now) {
        PodCondition condition = PodConditions.ofTerminalPod(type, merged.getPhase());
        condition.setObservedGeneration(merged.getObservedGeneration());
        condition.setLastTransitionTime(
                StatusContinuity.transition(PodParts.condition(server, condition.getType()), condition, now));
        PodConditions.put(merged.getConditions(), condition);
    }

    private static boolean isTrue(PodStatus status, String type) {
        @Nullable PodCondition condition = PodParts.condition(status, type);
        return condition != null && PodConditions.TRUE.equals(condition.getStatus());
    }
}
