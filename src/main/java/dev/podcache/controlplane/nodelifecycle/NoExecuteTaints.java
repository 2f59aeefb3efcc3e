package dev.podcache.controlplane.nodelifecycle;

import dev.podcache.controlplane.cluster.ClusterCache;
import dev.podcache.controlplane.cluster.ObservedNode;
import dev.podcache.controlplane.cluster.ReadyStatus;
import io.fabric8.kubernetes.api.model.Taint;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Gives nodes that are not Ready a NoExecute taint, which evicts their pods, and takes it back when they are Ready. Each
 * zone has a queue with a limit of nodes per second. Used by tasks of the cache's loop only.
 */
final class NoExecuteTaints {

    private static final Duration TICK = Duration.ofMillis(100);
    private static final Duration RETRY = Duration.ofMillis(50);
    private static final Set<String> BOTH = Set.of(NodeTaintRules.NOT_READY, NodeTaintRules.UNREACHABLE);

    private final ClusterCache cache;
    private final TaintWriter writer;
    private final double rate;
    private final Map<String, TaintQueue> zones = new HashMap<>();
    private final Set<String> writing = new HashSet<>();
    private final Set<String> toClear = new HashSet<>();
    private boolean ticking;

    /**
     * Creates an instance without nodes.
     *
     * @param rate the nodes per second of a zone at first
     */
    NoExecuteTaints(ClusterCache cache, TaintWriter writer, double rate) {
        this.cache = cache;
        this.writer = writer;
        this.rate = rate;
    }

    /**
     * Taints a node, or clears it, in the next moments.
     *
     * @param observed its status of Ready before this pass
     */
    void process(ObservedNode node, ReadyStatus observed) {
        switch (observed) {
            case TRUE -> clear(node);
            case FALSE -> taint(node, NodeTaintRules.NOT_READY, NodeTaintRules.UNREACHABLE);
            case UNKNOWN -> taint(node, NodeTaintRules.UNREACHABLE, NodeTaintRules.NOT_READY);
            case ABSENT -> {}
        }
    }

    private void taint(ObservedNode node, String wanted, String opposite) {
        String name = node.name();
        if (writing.contains(name)) {
            return;
        }
        if (node.hasTaint(opposite, NodeTaintRules.NO_EXECUTE)) {
            // its pods are being evicted already, so there is no reason to wait
            write(node, this::ofReadyStatus, () -> {});
            return;
        }
        TaintQueue queue = queue(node.zone());
        if (!node.hasTaint(wanted, NodeTaintRules.NO_EXECUTE) && !queue.isWaiting(name)) {
            queue.remove(name);
            queue.add(name);
            tickSoon();
        }
    }

    /** Takes back the NoExecute taints of a node, and does not taint it until it is processed again. */
    void clear(ObservedNode node) {
        TaintQueue queue = zones.get(node.zone());
        if (queue != null) {
            queue.remove(node.name());
        }
        if (!writing.isEmpty() && writing.contains(node.name())) {
            toClear.add(node.name());
        } else if (isTainted(node)) {
            write(node, read -> NodeTaintRules.without(read, BOTH), () -> {});
        }
    }

    private static boolean isTainted(ObservedNode node) {
        return node.hasTaint(NodeTaintRules.UNREACHABLE, NodeTaintRules.NO_EXECUTE)
                || node.hasTaint(NodeTaintRules.NOT_READY, NodeTaintRules.NO_EXECUTE);
    }

    /** Forgets a node that was deleted. */
    void forget(ObservedNode node) {
        queue(node.zone()).remove(node.name());
        toClear.remove(node.name());
    }

    /** Sets how many nodes of a zone are tainted in a second; 0 for none. */
    void setRate(String zone, double perSecond) {
        queue(zone).setRate(perSecond);
    }

    /** Forgets a zone that has no nodes any more, so that it begins at the usual rate when it returns. */
    void removeZone(String zone) {
        zones.remove(zone);
    }

    private TaintQueue queue(String zone) {
        return zones.computeIfAbsent(
                zone, name -> new TaintQueue(rate, cache.loop().timekeeper()));
    }

    private void tickSoon() {
        if (!ticking) {
            ticking = true;
            cache.loop().schedule(TICK, this::tick);
        }
    }

    private void tick() {
        ticking = false;
        try {
            zones.values().forEach(this::taintDue);
        } finally {
            if (!zones.values().stream().allMatch(TaintQueue::isEmpty)) {
                tickSoon();
            }
        }
    }

    private void taintDue(TaintQueue queue) {
        for (TaintQueue.QueuedNode entry = queue.take(); entry != null; entry = queue.take()) {
            taintNow(queue, entry);
        }
    }

    private void taintNow(TaintQueue queue, TaintQueue.QueuedNode entry) {
        ObservedNode node = cache.node(entry.node);
        if (node == null || node.readyStatus() == ReadyStatus.TRUE) {
            return;
        }
        Runnable again = () -> {
            queue.putBack(entry, RETRY);
            tickSoon();
        };
        if (node.readyStatus() == ReadyStatus.ABSENT || writing.contains(entry.node)) {
            again.run();
        } else {
            write(node, this::ofReadyStatus, again);
        }
    }

    /** Returns the taints of a node with the NoExecute taint of its status now; unchanged if it is Ready. */
    private List<Taint> ofReadyStatus(ObservedNode node) {
        Instant now = cache.loop().timekeeper().wallTime();
        return switch (node.readyStatus()) {
            case FALSE -> NodeTaintRules.swapped(node, NodeTaintRules.NOT_READY, NodeTaintRules.UNREACHABLE, now);
            case UNKNOWN -> NodeTaintRules.swapped(node, NodeTaintRules.UNREACHABLE, NodeTaintRules.NOT_READY, now);
            case TRUE, ABSENT -> node.taints();
        };
    }

    private void write(ObservedNode node, TaintWriter.Edit edit, Runnable ifFailed) {
        String name = node.name();
        writing.add(name);
        cache.loop().whenDone(writer.write(node, edit), (written, failure) -> {
            writing.remove(name);
            ObservedNode newest = cache.node(name);
            if (toClear.remove(name) && newest != null) {
                write(newest, read -> NodeTaintRules.without(read, BOTH), () -> {});
            } else if (!Boolean.TRUE.equals(written)) {
                ifFailed.run();
            }
        });
    }
}
