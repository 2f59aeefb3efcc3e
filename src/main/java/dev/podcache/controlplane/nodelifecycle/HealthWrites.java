package dev.podcache.controlplane.nodelifecycle;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.controlplane.cluster.ClusterCache;
import dev.podcache.controlplane.cluster.ClusterWrites;
import dev.podcache.controlplane.cluster.ObservedNode;
import dev.podcache.controlplane.cluster.RequestSlots;
import dev.podcache.object.FailureReason;
import io.fabric8.kubernetes.api.model.Node;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides about the health of nodes, and writes the conditions of those that are silent. Used by tasks of the cache's
 * loop only.
 */
final class HealthWrites {

    private static final Logger log = LoggerFactory.getLogger(NodeLifecycleController.class);
    private static final int TRIES = 5;
    private static final int REQUESTS = 8;
    private static final Duration PAUSE = Duration.ofMillis(20);

    private final ClusterCache cache;
    private final ClusterWrites writes;
    private final HealthRules rules;
    private final RequestSlots slots;

    HealthWrites(ClusterCache cache, ClusterWrites writes, HealthRules rules) {
        this.cache = cache;
        this.writes = writes;
        this.rules = rules;
        this.slots = new RequestSlots(cache.loop(), REQUESTS);
    }

    /** Decides about a node, and remembers its health. */
    HealthVerdict check(MonitoredNode monitored, CheckTime now) {
        return check(monitored, monitored.observed, now);
    }

    private HealthVerdict check(MonitoredNode monitored, ObservedNode node, CheckTime now) {
        HealthVerdict verdict = rules.check(monitored.health(), node, monitored.renewTime, now);
        monitored.remember(verdict.health());
        return verdict;
    }

    /**
     * Reads the Lease of a node that seems to be silent, and decides again: what is watched may be late. So may be what was
     * read: what came by the watches meanwhile counts too. Where the Lease cannot be read, they decide.
     *
     * @return the decision; completed by a task of the loop
     */
    CompletableFuture<HealthVerdict> confirm(MonitoredNode monitored) {
        return slots.send(() -> writes.renewTime(monitored.name()))
                .exceptionally(failure -> {
                    log.debug(
                            "the Lease of Node {} could not be read: {}; deciding by what was watched",
                            monitored.name(),
                            ApiServerException.describe(failure));
                    return ClusterCache.NEVER;
                })
                .thenApply(renewed -> {
                    monitored.renewTime = Math.max(monitored.renewTime, renewed);
                    return check(monitored, CheckTime.now(cache));
                });
    }

    /**
     * Writes the changes of a decision. If that fails, reads the Node and decides again, up to five times in all. If the node
     * renews its Lease before they are sent, decides again and writes nothing.
     *
     * @return the node as written; empty if it could not be written, or does not exist any more. Completed by a task of
     *     the loop
     */
    CompletableFuture<Optional<CheckedNode>> write(MonitoredNode monitored, HealthVerdict verdict) {
        return write(monitored, new CheckedNode(monitored.observed, verdict), 1);
    }

    private CompletableFuture<Optional<CheckedNode>> write(MonitoredNode monitored, CheckedNode checked, int tries) {
        return slots.send(() -> patched(monitored, checked))
                .thenApply(node -> node.map(each -> written(monitored, ObservedNode.of(each), checked.verdict()))
                        .orElseGet(() -> decided(monitored, checked.node())))
                .thenApply(Optional::of)
                .exceptionallyCompose(failure -> again(monitored, tries, failure));
    }

    /**
     * Sends the changes, unless the node has renewed its Lease while they waited for a slot: unlike a report of its status,
     * that would be no conflict. Returns the node as written; empty if nothing was sent.
     */
    private CompletableFuture<Optional<Node>> patched(MonitoredNode monitored, CheckedNode checked) {
        HealthVerdict verdict = checked.verdict();
        if (monitored.renewTime > verdict.health().renewTime()) {
            return CompletableFuture.completedFuture(Optional.empty());
        }
        return writes.patchConditions(checked.node(), verdict.changes()).thenApply(Optional::of);
    }

    private static CheckedNode written(MonitoredNode monitored, ObservedNode written, HealthVerdict verdict) {
        monitored.remember(verdict.health().written(written));
        return new CheckedNode(written, verdict);
    }

    private CompletableFuture<Optional<CheckedNode>> again(MonitoredNode node, int tries, Throwable failure) {
        if (tries == TRIES || ApiServerException.reasonOf(failure) == FailureReason.NOT_FOUND) {
            log.warn(
                    "the conditions of Node {} could not be written: {}; the next pass tries again",
                    node.name(),
                    ApiServerException.describe(failure));
            return CompletableFuture.completedFuture(Optional.empty());
        }
        return cache.loop()
                .after(PAUSE)
                .thenCompose(over -> slots.send(() -> writes.getNode(node.name())))
                .thenCompose(read -> decideAgain(node, ObservedNode.of(read), tries));
    }

    private CompletableFuture<Optional<CheckedNode>> decideAgain(
            MonitoredNode monitored, ObservedNode read, int tries) {
        CheckedNode checked = decided(monitored, read);
        return checked.verdict().changes().isEmpty()
                ? CompletableFuture.completedFuture(Optional.of(checked))
                : write(monitored, checked, tries + 1);
    }

    private CheckedNode decided(MonitoredNode monitored, ObservedNode node) {
        return new CheckedNode(node, check(monitored, node, CheckTime.now(cache)));
    }
}
