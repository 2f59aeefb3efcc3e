package dev.podcache.kubelet.agent;

import dev.podcache.kubelet.nodestatus.NodeStatusState;
import dev.podcache.kubelet.server.NodeView;
import dev.podcache.manager.CacheStats;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.manager.ObjectEntry;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** What the page shows of an agent. Thread-safe; no method blocks. */
final class AgentView implements NodeView {

    private final NodeAgent agent;
    private final String node;
    private final String version;
    private final ChangeDetectionStrategy strategy;
    private final Duration leaseDuration;
    private final Timekeeper timekeeper;
    private final long startedAt;

    /** Creates a view. The agent may still be under construction. */
    AgentView(NodeAgent agent, NodeAgentOptions options, Timekeeper timekeeper) {
        this.agent = agent;
        this.node = options.node();
        this.version = options.version();
        this.strategy = options.configuration().caching().strategy();
        this.leaseDuration =
                Duration.ofSeconds(options.configuration().heartbeats().leaseSeconds());
        this.timekeeper = timekeeper;
        this.startedAt = timekeeper.nanoTime();
    }

    @Override
    public String node() {
        return node;
    }

    @Override
    public String version() {
        return version;
    }

    @Override
    public Duration uptime() {
        return Duration.ofNanos(timekeeper.nanoTime() - startedAt);
    }

    @Override
    public ChangeDetectionStrategy strategy() {
        return strategy;
    }

    @Override
    public Optional<Node> lastSeen() {
        return agent.node();
    }

    @Override
    public List<Pod> pods() {
        return agent.pods();
    }

    @Override
    public List<ObjectEntry> entries() {
        return agent.caches().entries();
    }

    @Override
    public CacheStats stats() {
        return agent.caches().stats();
    }

    @Override
    public Optional<Duration> unansweredFor() {
        return agent.unansweredFor();
    }

    @Override
    public Optional<HeartbeatState> heartbeats() {
        NodeStatusState status = agent.status();
        return Optional.of(new HeartbeatState(
                leaseDuration, agent.sinceRenewal(), status.registered(), status.lastReport(), status.problem()));
    }
}
