package dev.podcache.kubelet.server;

import dev.podcache.manager.CacheStats;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.manager.ObjectEntry;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What the page of a node shows. Each method returns the present state, never null, and may block. Thread-safe.
 * Nothing that is returned may be modified. The fields of Nodes and pods may be null, as in the API.
 */
public interface NodeView {

    /** Returns the name of the node. */
    String node();

    /** Returns the version of the agent. */
    String version();

    /** Returns the time since the agent started. */
    Duration uptime();

    /** Returns how changes of objects are detected. */
    ChangeDetectionStrategy strategy();

    /**
     * Returns the Node as last seen at the API server; empty until it was read for the first time, and while it does not
     * exist. A Node that was read stays while the API server does not answer.
     */
    Optional<Node> lastSeen();

    /** Returns the pods of the node as last seen at the API server, and static pods; empty until they were read. */
    List<Pod> pods();

    /** Returns the objects that pods refer to, also those that could not be read; empty if there are none. */
    List<ObjectEntry> entries();

    /** Returns what the caches have counted. */
    CacheStats stats();

    /** Returns the state of the heartbeats; empty if the agent sends none. */
    Optional<HeartbeatState> heartbeats();

    /**
     * Returns for how long the API server has answered none of the agent's lists and watches; empty if it answers, or if
     * that is not known. Default: empty.
     */
    default Optional<Duration> unansweredFor() {
        return Optional.empty();
    }

    /**
     * How the agent reports to the API server. Immutable.
     *
     * @param leaseDuration the time after which an unrenewed Lease has expired
     * @param sinceRenewal the time since the Lease was renewed; empty if it never was
     * @param registered whether the agent has registered the Node, and has not seen its deletion since
     * @param lastReport when the API server last accepted the status of the Node; empty if it never did
     * @param problem why the last attempt to register or to report failed; empty if it succeeded
     */
    record HeartbeatState(
            Duration leaseDuration,
            Optional<Duration> sinceRenewal,
            boolean registered,
            Optional<Instant> lastReport,
            Optional<String> problem) {}
}
