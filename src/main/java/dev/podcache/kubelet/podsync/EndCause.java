package dev.podcache.kubelet.podsync;

import dev.podcache.kubelet.eviction.Eviction;
import dev.podcache.kubelet.eviction.PodRejection;
import dev.podcache.pod.QosClass;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodConditionBuilder;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.PodStatusBuilder;
import java.util.ArrayList;
import java.util.List;

/** Why the node ends a pod that would otherwise go on, as its status shows it. Pure functions. */
final class EndCause {

    private static final String DISRUPTION_TARGET = "DisruptionTarget";

    private EndCause() {}

    /** Returns the part of the status that an eviction sets. */
    static PodStatus of(Eviction eviction) {
        PodStatusBuilder status = failed(Eviction.REASON, eviction.message());
        if (eviction.forPressure()) {
            status.addToConditions(new PodConditionBuilder()
                    .withType(DISRUPTION_TARGET)
                    .withStatus("True")
                    .withReason("TerminationByKubelet")
                    .withMessage(eviction.message())
                    .build());
        }
        return status.build();
    }

    /** Returns the whole status of a pod that is not admitted: as in a kubelet, it has no containers and conditions. */
    static PodStatus of(Pod pod, PodRejection rejection) {
        return failed(rejection.reason(), "Pod was rejected: " + rejection.message())
                .withQosClass(QosClass.of(pod))
                .build();
    }

    private static PodStatusBuilder failed(String reason, String message) {
        return new PodStatusBuilder().withPhase("Failed").withReason(reason).withMessage(message);
    }

    /** Adds a cause to the last status of a pod. */
    static void add(PodStatus cause, PodStatus status) {
        status.setPhase(cause.getPhase());
        status.setReason(cause.getReason());
        status.setMessage(cause.getMessage());
        for (PodCondition condition : cause.getConditions()) {
            List<PodCondition> all = new ArrayList<>(status.getConditions());
            all.removeIf(each -> condition.getType().equals(each.getType()));
            all.add(condition);
            status.setConditions(all);
        }
    }
}
