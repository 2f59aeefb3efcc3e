package dev.podcache.controlplane.planner;

/** The kinds of requests that a simulation counts. */
public enum SimulatedRequest {
    LEASE("lease", "Lease renewals"),
    NODE_STATUS("status", "node statuses"),
    NODE_TTL("ttl", "TTL annotations"),
    NODE_CONDITIONS("conditions", "conditions of dead nodes"),
    NODE_TAINTS("taints", "taints"),
    POD_STATUS("podStatus", "pods marked not ready"),
    POD_DELETION("podDeletion", "pods deleted"),
    EVENT("events", "events"),
    OTHER("other", "creations and reads");

    private final String key;
    private final String label;

    SimulatedRequest(String key, String label) {
        this.key = key;
        this.label = label;
    }

    /** Returns the name of the field in JSON. */
    public String key() {
        return key;
    }

    /** Returns a text for people. */
    public String label() {
        return label;
    }
}
