package dev.podcache.controlplane.nodelifecycle;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.controlplane.cluster.ClusterCache;
import dev.podcache.controlplane.cluster.ClusterListener;
import dev.podcache.controlplane.cluster.ObservedNode;
import dev.podcache.controlplane.cluster.ObservedPod;
import dev.podcache.controlplane.cluster.ReadyStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at all nodes periodically. Marks those that are silent, and their pods, and has them tainted. Used by tasks of
 * the cache's loop only.
 */
final class NodeMonitor implements ClusterListener {

    /*
     * A pass decides about all nodes at once, from the cache. Only nodes that change need requests. The pass ends when
     * their answers are there, and the next one begins a period later. Whatever fails is decided again in the next pass;
     * an exception about one node does not keep the pass from the others, nor from its end.
     */

    private static final Logger log = LoggerFactory.getLogger(NodeLifecycleController.class);
    private static final Duration RETRY = Duration.ofSeconds(1);

    private final ClusterCache cache;
    private final HealthWrites health;
    private final NoExecuteTaints taints;
    private final Disruption disruption;
    private final PodReadiness readiness;
    private final LifecycleEvents events;
    private final Duration period;
    private final Map<String, MonitoredNode> nodes = new LinkedHashMap<>();
    private final Set<String> appeared = new LinkedHashSet<>(); // since the last pass
    private final List<ObservedNode> gone = new ArrayList<>(); // since the last pass
    private Map<String, ZoneCount> counts = new HashMap<>();

    /** What a monitor works with. */
    record MonitorParts(
            ClusterCache cache,
            HealthWrites health,
            NoExecuteTaints taints,
            Disruption disruption,
            PodReadiness readiness,
            LifecycleEvents events) {}

    NodeMonitor(MonitorParts parts, Duration period) {
        this.cache = parts.cache();
        this.health = parts.health();
        this.taints = parts.taints();
        this.disruption = parts.disruption();
        this.readiness = parts.readiness();
        this.events = parts.events();
        this.period = period;
    }

    /** Makes a pass. The next one follows a period after its end. */
    void pass() {
        counts = new HashMap<>();
        List<CompletableFuture<?>> open = new ArrayList<>();
        try {
            updateKnown();
            CheckTime now = CheckTime.now(cache);
            for (MonitoredNode node : nodes.values()) {
                check(node, now, open);
            }
        } finally {
            cache.loop()
                    .whenDone(
                            CompletableFuture.allOf(open.toArray(CompletableFuture<?>[]::new)),
                            (all, failure) -> end());
        }
    }

    private void end() {
        try {
            if (disruption.apply(counts) == DisruptionMode.RESUME) {
                restartGracePeriods();
            }
        } finally {
            cache.loop().schedule(period, this::pass);
        }
    }

    /** Takes this moment for the last sign of life of all nodes. */
    private void restartGracePeriods() {
        for (MonitoredNode node : nodes.values()) {
            NodeHealth known = node.health();
            if (known != null) {
                node.remember(known.probed(cache.watchedNanos()));
            }
        }
    }

    private void updateKnown() {
        for (ObservedNode node : gone) {
            taints.forget(node);
            events.removed(node);
        }
        gone.clear();
        for (String name : appeared) {
            ObservedNode node = cache.node(name);
            if (node != null) {
                events.registered(node);
                taints.clear(node);
            }
        }
        appeared.clear();
    }

    private void check(MonitoredNode node, CheckTime now, List<CompletableFuture<?>> open) {
        try {
            HealthVerdict verdict = health.check(node, now);
            CompletableFuture<?> rest = verdict.changes().isEmpty()
                    ? act(node, new CheckedNode(node.observed, verdict))
                    : health.confirm(node).thenCompose(confirmed -> writeAndAct(node, confirmed));
            if (rest != null) {
                open.add(rest.whenComplete((done, failure) -> {
                    if (failure != null) {
                        skipped(node, failure);
                    }
                }));
            }
        } catch (RuntimeException | Error e) {
            skipped(node, e);
        }
    }

    private CompletableFuture<?> writeAndAct(MonitoredNode node, HealthVerdict confirmed) {
        CompletableFuture<Optional<CheckedNode>> written = confirmed.changes().isEmpty()
                ? CompletableFuture.completedFuture(Optional.of(new CheckedNode(node.observed, confirmed)))
                : health.write(node, confirmed);
        return written.thenCompose(checked -> {
            CompletableFuture<?> acting = checked.isEmpty() ? null : act(node, checked.get());
            return acting == null ? CompletableFuture.completedFuture(null) : acting;
        });
    }

    private static void skipped(MonitoredNode node, Throwable failure) {
        log.error(
                "Node {} could not be checked; the next pass tries again",
                node.name(),
                ApiServerException.causeOf(failure));
    }

    /** Acts on a decision. Returns what the pass must wait for; null for nothing. */
    private @Nullable CompletableFuture<?> act(MonitoredNode monitored, CheckedNode checked) {
        ObservedNode node = checked.node();
        HealthVerdict verdict = checked.verdict();
        if (!node.isExcludedFromDisruption()) {
            counts.computeIfAbsent(node.zone(), zone -> new ZoneCount()).add(verdict.current());
        }
        if (verdict.current() == ReadyStatus.ABSENT) {
            return null;
        }
        taints.process(node, verdict.observed());
        if (verdict.isNewlyNotReady()) {
            events.notReady(node);
            return markPods(monitored);
        }
        boolean again = monitored.hasPodsToMark && verdict.observed() != ReadyStatus.TRUE;
        monitored.hasPodsToMark = false;
        return again ? markPods(monitored) : null;
    }

    private CompletableFuture<?> markPods(MonitoredNode node) {
        return readiness.markNotReady(cache.podsOf(node.name())).thenAccept(all -> node.hasPodsToMark |= !all);
    }

    @Override
    public void nodeAdded(ObservedNode node) {
        nodes.put(node.name(), new MonitoredNode(node, cache.renewTime(node.name())));
        appeared.add(node.name());
    }

    @Override
    public void nodeChanged(ObservedNode before, ObservedNode now) {
        MonitoredNode node = nodes.get(now.name());
        if (node != null) {
            node.observed = now;
        }
    }

    @Override
    public void leaseRenewed(String name, long renewTime) {
        MonitoredNode node = nodes.get(name);
        if (node != null) {
            node.renewTime = renewTime;
        }
    }

    @Override
    public void nodeDeleted(ObservedNode last) {
        nodes.remove(last.name());
        if (!appeared.remove(last.name())) {
            gone.add(last);
        }
    }

    @Override
    public void podChanged(@Nullable ObservedPod before, ObservedPod now) {
        if (before == null || !before.node().equals(now.node())) {
            markIfNodeIsNotReady(now);
        }
    }

    private void markIfNodeIsNotReady(ObservedPod pod) {
        MonitoredNode ofNode = nodes.get(pod.node());
        ObservedPod newest = cache.pod(pod.key());
        boolean isThere = newest != null
                && newest.uid().equals(pod.uid())
                && newest.node().equals(pod.node());
        if (isThere && ofNode != null && ofNode.isKnownAsNotReady()) {
            cache.loop().whenDone(readiness.markNotReady(List.of(newest)), (marked, failure) -> {
                if (!Boolean.TRUE.equals(marked)) {
                    cache.loop().schedule(RETRY, () -> markIfNodeIsNotReady(pod));
                }
            });
        }
    }
}
