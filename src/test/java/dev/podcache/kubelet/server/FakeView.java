package dev.podcache.kubelet.server;

import dev.podcache.manager.CacheStats;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.manager.ObjectEntry;
import dev.podcache.testkit.FakePodcache;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;

/** Node {@code worker-1}, which is Ready, with the objects of a {@link FakePodcache}. */
final class FakeView implements NodeView {

    volatile boolean broken;
    final FakePodcache cache = new FakePodcache();
    final List<Pod> pods = new CopyOnWriteArrayList<>();
    volatile Optional<Node> node = Optional.of(new NodeBuilder()
            .withNewStatus()
            .addNewCondition()
            .withType("Ready")
            .withStatus("True")
            .withReason("KubeletReady")
            .endCondition()
            .endStatus()
            .build());
    volatile HeartbeatState heartbeats = new HeartbeatState(
            Duration.ofSeconds(40), Optional.of(Duration.ofSeconds(3)), true, Optional.empty(), Optional.empty());

    @Override
    public String node() {
        return "worker-1";
    }

    @Override
    public String version() {
        return "v1.0.0";
    }

    @Override
    public Duration uptime() {
        return Duration.ofMinutes(90);
    }

    @Override
    public ChangeDetectionStrategy strategy() {
        return ChangeDetectionStrategy.WATCH;
    }

    @Override
    public Optional<Node> lastSeen() {
        if (broken) {
            throw new IllegalStateException("broken");
        }
        return node;
    }

    @Override
    public List<Pod> pods() {
        return pods;
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
        return Optional.of(heartbeats);
    }
}
