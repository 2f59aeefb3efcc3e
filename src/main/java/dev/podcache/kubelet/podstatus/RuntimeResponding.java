package dev.podcache.kubelet.podstatus;

import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.util.ArrayList;
import java.util.List;

/**
 * The condition of a pod whose runtime does not return from a call about it. It is False while a call hangs, then True:
 * {@link StatusContinuity}. A pod whose calls have all returned in time does not have it. Pure functions.
 */
final class RuntimeResponding {

    static final String TYPE = "podcache.dev/RuntimeResponding";

    private RuntimeResponding() {}

    /** Modifies {@code status}: a call hangs. */
    static void hangs(PodStatus status, String call) {
        List<PodCondition> conditions = new ArrayList<>(PodParts.present(status.getConditions()));
        PodConditions.put(conditions, PodConditions.condition(TYPE, PodConditions.FALSE, "RuntimeNotResponding", call));
        status.setConditions(conditions);
    }
}
