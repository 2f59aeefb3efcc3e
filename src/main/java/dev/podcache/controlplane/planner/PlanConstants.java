package dev.podcache.controlplane.planner;

import java.time.Duration;

/** Measured or published figures that a plan is computed from, each with its source. */
final class PlanConstants {

    /** Tries of one status sync, and of one Lease renewal: the kubelet's nodeStatusUpdateRetry and maxUpdateRetries. */
    static final int TRIES = 5;

    /**
     * The heap of an agent for one object of 1.5 KB under WATCH: docs/performance.md, "heap per object" of 600 Secrets.
     */
    static final int WATCHED_OBJECT_BYTES = 4_040;

    /** The heap of an agent for one object of 1.5 KB under CACHE: docs/performance.md, 1.81 MB for 600 Secrets. */
    static final int CACHED_OBJECT_BYTES = 3_020;

    /**
     * The memory of one watch at the API server: kubernetes/kubernetes#117777, which calls it a crude estimate. Nobody
     * published a measurement.
     */
    static final long SERVER_WATCH_BYTES_LOW = 50 * 1_024;

    static final long SERVER_WATCH_BYTES_HIGH = 100 * 1_024;

    /** The mean life of a watch: the API server ends each after 30 to 60 min ({@code --min-request-timeout}). */
    static final Duration WATCH_LIFE = Duration.ofMinutes(45);

    /** The watches of one agent that are not of Secrets and ConfigMaps: its Node, its pods, Services. */
    static final int FIXED_WATCHES = 3;

    /** The connections of one agent that carry no watches: one for heartbeats, one for other requests. */
    static final int OTHER_CONNECTIONS = 2;

    /** The bytes that one Lease renewal adds to etcd's history: NVIDIA/NVSentinel#1705, 25,000 nodes. */
    static final int LEASE_HISTORY_BYTES = 867;

    /** The size of a Node as JSON: NVIDIA/NVSentinel#1512, a list of 10,000 nodes is 134 MB. */
    static final int NODE_BYTES = 13_400;

    /** The size of a Lease as JSON; the Lease is both request and answer. */
    static final int LEASE_BYTES = 600;

    /** The size of the PATCH of an unchanged node status: the heartbeat times of four or five conditions. */
    static final int STATUS_PATCH_BYTES = 600;

    /** The size of a Secret of 1.5 KB as JSON. */
    static final int OBJECT_BYTES = 2_400;

    /** The size of a pod with its status as JSON. */
    static final int POD_BYTES = 4_000;

    /** The size of an event as JSON. */
    static final int EVENT_BYTES = 900;

    /** Watches that receive each change of a Node or a pod: the agent's, the scheduler's and one controller manager's. */
    static final int OBSERVERS = 3;

    /** Writes per second of one etcd member on NVMe: bchess/k8s-1m. */
    static final int ETCD_WRITES = 50_000;

    /** Updates per second of one type in the API server's watch cache: bchess/k8s-1m. */
    static final int WATCH_CACHE_UPDATES = 40_000;

    /** Writes of a pod's status in its life: Pending, Running, ended; then the agent deletes the pod. */
    static final int POD_WRITES = 4;

    /** Events of a pod in its life: Scheduled by the scheduler, Killing by the agent. */
    static final int POD_EVENTS = 2;

    /** From how many watchers on a change costs seats of priority and fairness, and how many share one: flowcontrol. */
    static final int WATCHERS_PER_SEAT = 10;

    /** How long a change occupies each seat: flowcontrol. */
    static final Duration SEAT_TIME = Duration.ofMillis(5);

    /** The seats that one change may occupy at a time: flowcontrol. */
    static final int MOST_SEATS = 10;

    /** The TLS handshakes per second that an API server is assumed to make. */
    static final int HANDSHAKES = 1_000;

    /** The requests per second that an API server is assumed to answer. */
    static final int REQUESTS = 3_000;

    private PlanConstants() {}
}
