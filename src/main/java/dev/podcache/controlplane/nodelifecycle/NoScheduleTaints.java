package dev.podcache.controlplane.nodelifecycle;

import dev.podcache.controlplane.cluster.ClusterCache;
import dev.podcache.controlplane.cluster.ClusterListener;
import dev.podcache.controlplane.cluster.ObservedNode;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Set;

/**
 * Gives each Node the NoSchedule taints of its conditions, whenever it changes. Used by tasks of the cache's loop only.
 */
final class NoScheduleTaints implements ClusterListener {

    private static final Duration RETRY = Duration.ofSeconds(1);

    private final ClusterCache cache;
    private final TaintWriter writer;
    private final Set<String> writing = new HashSet<>();
    private final Set<String> changedMeanwhile = new HashSet<>();

    NoScheduleTaints(ClusterCache cache, TaintWriter writer) {
        this.cache = cache;
        this.writer = writer;
    }

    @Override
    public void nodeAdded(ObservedNode node) {
        check(node);
    }

    @Override
    public void nodeChanged(ObservedNode before, ObservedNode now) {
        check(now);
    }

    private void check(ObservedNode node) {
        if (NodeTaintRules.isScheduledRight(node)) {
            return;
        }
        String name = node.name();
        if (!writing.add(name)) {
            changedMeanwhile.add(name);
            return;
        }
        Instant now = cache.loop().timekeeper().wallTime();
        cache.loop()
                .whenDone(writer.write(node, read -> NodeTaintRules.scheduledRight(read, now)), (written, failure) -> {
                    writing.remove(name);
                    if (!Boolean.TRUE.equals(written)) {
                        cache.loop().schedule(RETRY, () -> checkAgain(name));
                    } else if (changedMeanwhile.remove(name)) {
                        checkAgain(name);
                    }
                });
    }

    private void checkAgain(String name) {
        ObservedNode node = cache.node(name);
        if (node != null) {
            check(node);
        }
    }
}
