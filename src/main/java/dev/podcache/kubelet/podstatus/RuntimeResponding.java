package dev.podcache.kubelet.podstatus;

import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The condition of a pod whose runtime does not return from a call about it. It is False while a call hangs, then True.
 * A pod whose calls have all returned in time does not have it. Pure functions.
 */
final class RuntimeResponding {

    static final String TYPE = "podcache.dev/RuntimeResponding";

    private RuntimeResponding() {}

    /** Modifies {@code status}: a call hangs. */
    static void hangs(PodStatus status, String call) {
        put(status, PodConditions.condition(TYPE, PodConditions.FALSE, "RuntimeNotResponding", call));
    }

    /** Modifies {@code status}, the successor of {@code before}: all calls have returned. */
    static void answered(@Nullable PodStatus before, PodStatus status) {
        if (before != null && PodParts.condition(before, TYPE) != null) {
            put(status, PodConditions.condition(TYPE, PodConditions.TRUE, null, null));
        }
    }

    private static void put(PodStatus status, PodCondition condition) {
        List<PodCondition> conditions = new ArrayList<>(PodParts.present(status.getConditions()));
        PodConditions.put(conditions, condition);
        status.setConditions(conditions);
    }
}
