package dev.podcache.kubelet.podstatus;

import static dev.podcache.kubelet.podstatus.PodParts.present;

import dev.podcache.pod.PodEnd;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodConditionBuilder;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the status at the server is to become: ours, and in it what belongs to others as the server has it. Pure. */
final class PodStatusMerge {

    // After mergePodStatus of pkg/kubelet/status/status_manager.go of Kubernetes.

    private PodStatusMerge() {}

    /**
     * A new status.
     *
     * @param mayRun whether containers of the pod may still run: then it does not become Succeeded or Failed yet
     * @param now for transitions that only show here
     */
    static PodStatus merge(PodStatus server, PodStatus ours, boolean mayRun, String now) {
        PodStatus merged = PodParts.copy(ours);
        boolean ends = !PodEnd.isTerminal(server.getPhase()) && PodEnd.isTerminal(ours.getPhase());
        merged.setConditions(conditions(server, merged, ends && !mayRun, now));
        PodStatus theirs = PodParts.copy(server);
        merged.setResourceClaimStatuses(theirs.getResourceClaimStatuses());
        merged.setExtendedResourceClaimStatus(theirs.getExtendedResourceClaimStatus());
        // fields that our models do not know are none that we write
        merged.setAdditionalProperties(theirs.getAdditionalProperties());
        if (ends && mayRun) {
            merged.setPhase(server.getPhase());
            merged.setReason(server.getReason());
            merged.setMessage(server.getMessage());
        }
        if (PodEnd.isTerminal(merged.getPhase())
                && (isTrue(merged, PodConditions.READY) || isTrue(merged, PodConditions.CONTAINERS_READY))) {
            end(server, merged, PodConditions.CONTAINERS_READY, now);
            end(server, merged, PodConditions.READY, now);
        }
        return merged;
    }

    private static List<PodCondition> conditions(PodStatus server, PodStatus ours, boolean disrupts, String now) {
        List<PodCondition> merged = new ArrayList<>();
        for (PodCondition condition : present(server.getConditions())) {
            if (!PodConditions.OWNED.contains(condition.getType())) {
                merged.add(new PodConditionBuilder(condition).build());
            }
        }
        for (PodCondition condition : present(ours.getConditions())) {
            condition.setObservedGeneration(ours.getObservedGeneration());
            if (PodConditions.OWNED.contains(condition.getType())) {
                merged.add(condition);
            } else if (disrupts && PodConditions.DISRUPTION_TARGET.equals(condition.getType())) {
                condition.setLastTransitionTime(
                        StatusContinuity.transition(PodParts.condition(server, condition.getType()), condition, now));
                PodConditions.put(merged, condition);
            }
        }
        return merged;
    }

    private static void end(PodStatus server, PodStatus merged, String type, String now) {
        PodCondition condition = PodConditions.over(type, merged.getPhase());
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
