package dev.podcache.controlplane.nodelifecycle;

import java.util.Collection;
import java.util.List;

/** How evictions go on after a pass. */
enum DisruptionMode {
    /** All zones are fully disrupted, and at least one was not: take back all NoExecute taints, and add no more. */
    STOP,
    /** All zones were fully disrupted, and at least one is not any more: give all nodes a new grace period. */
    RESUME,
    /** All zones still are fully disrupted: change nothing. */
    STAY_STOPPED,
    /** Each zone has its own rate. */
    BY_ZONE;

    /**
     * Returns the mode after a pass. If no node of the whole cluster is Ready, the network of the control plane is more
     * likely to be broken than all nodes are.
     *
     * @param before the states of the zones before the pass
     * @param after the states of the same zones after it
     */
    static DisruptionMode of(Collection<ZoneState> before, Collection<ZoneState> after) {
        if (areFull(after)) {
            return areFull(before) ? STAY_STOPPED : STOP;
        }
        // a zone that is new says nothing about the pass before
        List<ZoneState> known =
                before.stream().filter(state -> state != ZoneState.INITIAL).toList();
        boolean wasStopped = areFull(known) && (before.isEmpty() || !known.isEmpty());
        return wasStopped ? RESUME : BY_ZONE;
    }

    private static boolean areFull(Collection<ZoneState> states) {
        return states.stream().allMatch(state -> state == ZoneState.FULL_DISRUPTION);
    }
}
