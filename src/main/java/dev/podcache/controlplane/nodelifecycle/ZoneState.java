package dev.podcache.controlplane.nodelifecycle;

/** How many nodes of a zone are Ready. */
enum ZoneState {
    /** No pass has counted the zone yet. */
    INITIAL,
    /** Most nodes are Ready. */
    NORMAL,
    /** At least three nodes, and at least the configured share, are not Ready. */
    PARTIAL_DISRUPTION,
    /** No node is Ready. */
    FULL_DISRUPTION;

    /**
     * Returns the state of a zone.
     *
     * @param threshold the share of nodes that are not Ready from which on a zone is partly disrupted
     */
    static ZoneState of(int ready, int notReady, double threshold) {
        if (ready == 0 && notReady > 0) {
            return FULL_DISRUPTION;
        }
        // in float, as upstream: 0.55f is not 0.55
        boolean partial = notReady > 2 && (float) notReady / (float) (notReady + ready) >= (float) threshold;
        return partial ? PARTIAL_DISRUPTION : NORMAL;
    }
}
