package dev.podcache.controlplane.planner;

/** The figures of a {@link Plan}, in the order in which they are shown. */
public enum PlanFigure {
    LEASE_REQUESTS(Group.REQUESTS, "lease", "Lease renewals"),
    STATUS_REQUESTS(Group.REQUESTS, "status", "node statuses"),
    POD_STATUS_REQUESTS(Group.REQUESTS, "podStatus", "pod statuses and deletions"),
    WATCH_REQUESTS(Group.REQUESTS, "watch", "watches and lists"),
    GET_REQUESTS(Group.REQUESTS, "get", "GETs of Secrets and ConfigMaps"),
    EVENT_REQUESTS(Group.REQUESTS, "events", "events"),
    ALL_REQUESTS(Group.REQUESTS, "total", "all"),

    STATUS_UPDATES(Group.HEARTBEATS, "statusUpdatesPerMinute", "every status update, older kubelets, a minute"),
    STATUS_REPORTS(Group.HEARTBEATS, "statusReportsPerMinute", "reported statuses, a minute"),
    LEASE_RENEWALS(Group.HEARTBEATS, "leaseRenewalsPerMinute", "Lease renewals, a minute"),
    FEWEST_ATTEMPTS(Group.HEARTBEATS, "fewestStatusAttempts", "status attempts in the grace period, older, fewest"),
    MOST_ATTEMPTS(Group.HEARTBEATS, "mostStatusAttempts", "status attempts in the grace period, older, most"),
    FEWEST_RENEWALS(Group.HEARTBEATS, "fewestLeaseRenewals", "Lease renewals due in the grace period, fewest"),
    MOST_RENEWALS(Group.HEARTBEATS, "mostLeaseRenewals", "Lease renewals due in the grace period, most"),

    BEST_DETECTION(Group.DETECTION, "best", "best"),
    MEAN_DETECTION(Group.DETECTION, "mean", "mean"),
    WORST_DETECTION(Group.DETECTION, "worst", "worst"),

    DOCUMENTED_EVICTION(Group.EVICTION, "documented", "grace period and toleration"),
    BEST_EVICTION(Group.EVICTION, "best", "best"),
    MEAN_EVICTION(Group.EVICTION, "mean", "mean"),
    WORST_TAINT(Group.EVICTION, "worstTaint", "tainted, worst"),
    WORST_EVICTION(Group.EVICTION, "worst", "worst"),

    CACHE_TTL(Group.OBJECTS, "ttlSeconds", "TTL under Cache, s"),
    WATCHES(Group.OBJECTS, "watches", "watches held"),
    WATCHES_PER_NODE(Group.OBJECTS, "watchesPerNode", "watches of one node"),
    SERVER_MEMORY_LOW(Group.OBJECTS, "serverWatchBytesLow", "server memory for watches, low, bytes"),
    SERVER_MEMORY_HIGH(Group.OBJECTS, "serverWatchBytesHigh", "server memory for watches, high, bytes"),
    AGENT_MEMORY(Group.OBJECTS, "agentObjectBytes", "heap of one agent for objects, bytes"),
    SHARED_WRITE(Group.OBJECTS, "sharedWriteSeatMillis", "update of an object that all nodes watch, ms of a seat"),

    WATCH_CONNECTIONS(Group.CONNECTIONS, "watchesPerNode", "one node, watches"),
    NODE_CONNECTIONS(Group.CONNECTIONS, "perNode", "one node, all"),
    CONNECTIONS(Group.CONNECTIONS, "total", "all nodes"),

    LEASE_BYTES(Group.BYTES, "lease", "Leases"),
    STATUS_BYTES(Group.BYTES, "status", "node statuses"),
    OBJECT_BYTES(Group.BYTES, "objects", "Secrets and ConfigMaps"),
    POD_BYTES(Group.BYTES, "pods", "pods and events"),
    WIRE_BYTES(Group.BYTES, "total", "all"),
    ETCD_BYTES(Group.BYTES, "etcdHistory", "history of etcd"),

    ETCD_SHARE(Group.LIMITS, "etcdWritesPercent", "writes, % of etcd's"),
    WATCH_CACHE_SHARE(Group.LIMITS, "watchCachePercent", "Lease changes, % of the watch cache's"),

    RESUMED(Group.RESTART, "resumeRequests", "requests if watches resume"),
    PEAK_REQUESTS(Group.RESTART, "peakRequestsPerSecond", "peak, requests per second"),
    RESUME_TIME(Group.RESTART, "resumeSeconds", "until all watches resumed, s"),
    LISTED_AGAIN(Group.RESTART, "relistRequests", "requests if all lists are repeated"),
    RELIST_TIME(Group.RESTART, "relistSeconds", "until all lists are repeated, s");

    private final Group group;
    private final String key;
    private final String label;

    PlanFigure(Group group, String key, String label) {
        this.group = group;
        this.key = key;
        this.label = label;
    }

    public Group group() {
        return group;
    }

    /** Returns the name of the field in JSON, within that of the group. */
    public String key() {
        return key;
    }

    /** Returns a text for people, to be read after the title of the group. */
    public String label() {
        return label;
    }

    /** Figures that are shown together. */
    public enum Group {
        REQUESTS("requestsPerSecond", "Requests per second at the API server"),
        HEARTBEATS("heartbeats", "Heartbeats"),
        DETECTION("detectionSeconds", "From the death of a node until it is Unknown, s"),
        EVICTION("evictionSeconds", "From the death of a node until its pods are deleted, s"),
        OBJECTS("objects", "Objects and watches"),
        CONNECTIONS("connections", "Connections"),
        BYTES("bytesPerSecond", "Bytes per second"),
        LIMITS("limits", "Shares of known limits"),
        RESTART("restart", "After a restart of the API server");

        private final String key;
        private final String title;

        Group(String key, String title) {
            this.key = key;
            this.title = title;
        }

        /** Returns the name of the field in JSON. */
        public String key() {
            return key;
        }

        /** Returns a heading for people. */
        public String title() {
            return title;
        }
    }
}
