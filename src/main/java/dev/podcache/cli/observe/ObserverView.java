package dev.podcache.cli.observe;

import dev.podcache.Podcache;
import dev.podcache.cli.output.Versions;
import dev.podcache.kubelet.server.NodeView;
import dev.podcache.manager.CacheStats;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.manager.ObjectEntry;
import dev.podcache.node.NodeLister;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** What the page shows of an agent that only reads. Thread-safe; no method blocks. */
final class ObserverView implements NodeView {

    private final NodeObserver observer;
    private final NodeLister node;
    private final Podcache cache;
    private final Timekeeper timekeeper;
    private final long startedAt;

    ObserverView(NodeObserver observer, NodeLister node, Podcache cache, Timekeeper timekeeper) {
        this.observer = observer;
        this.node = node;
        this.cache = cache;
        this.timekeeper = timekeeper;
        this.startedAt = timekeeper.nanoTime();
    }

    @Override
    public String node() {
        return node.name();
    }

    @Override
    public String version() {
        return Versions.podcache();
    }

    @Override
    public Duration uptime() {
        return Duration.ofNanos(timekeeper.nanoTime() - startedAt);
    }

    @Override
    public ChangeDetectionStrategy strategy() {
        return observer.strategy();
    }

    @Override
    public Optional<Node> lastSeen() {
        return node.get();
    }

    @Override
    public List<Pod> pods() {
        return observer.pods();
    }

    @Override
    public List<ObjectEntry> entries() {
        return cache.entries();
    }

    @Override
    public CacheStats stats() {
        return cache.stats();
    }

    @Override
    public Optional<HeartbeatState> heartbeats() {
        return Optional.empty();
    }
}
