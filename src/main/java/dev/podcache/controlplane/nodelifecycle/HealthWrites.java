package dev.podcache.controlplane.nodelifecycle;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.controlplane.cluster.ClusterCache;
import dev.podcache.controlplane.cluster.ClusterWrites;
import dev.podcache.controlplane.cluster.ObservedNode;
import dev.podcache.controlplane.cluster.RequestSlots;
import dev.podcache.object.FailureReason;
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
     * Reads the Lease of a node that seems to be silent, and decides again if the node has renewed it meanwhile: what is watched
     * may be late. Where the Lease cannot be read, the decision stands.
     *
     * @return the decision; completed by a task of the loop
     */
    CompletableFuture<HealthVerdict> confirm(MonitoredNode monitored, HealthVerdict verdict) {
        return slots.send(() -> writes.renewTime(monitored.name()))
                .exceptionally(failure -> {
                    log.debug(
                            "the Lease of Node {} could not be read: {}; deciding by what was watched",
                            monitored.name(),
                            ApiServerException.describe(failure));
                    return ClusterCache.NEVER;
                })
                .thenApply(renewed -> {
                    if (renewed <= monitored.renewTime) {
                        return verdict;
                    }
                    monitored.renewTime = renewed;
                    return check(monitored, CheckTime.now(cache));
                });
    }

    /**
     * Writes the changes of a decision. If that fails, reads the Node and decides again, up to five times in all.
     *
     * @return the node as written; empty if it could not be written, or does not exist any more. Completed by a task of
     *     the loop
     */
    CompletableFuture<Optional<CheckedNode>> write(MonitoredNode monitored, HealthVerdict verdict) {
        return write(monitored, new CheckedNode(monitored.observed, verdict), 1);
    }

    private CompletableFuture<Optional<CheckedNode>> write(MonitoredNode monitored, CheckedNode checked, int tries) {
        HealthVerdict verdict = checked.verdict();
        return slots.send(() -> writes.patchConditions(checked.node(), verdict.changes()))
                .thenApply(written -> Optional.of(written(monitored, ObservedNode.of(written), verdict)))
                .exceptionallyCompose(failure -> again(monitored, tries, failure));
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
        CheckedNode checked = new CheckedNode(read, check(monitored, read, CheckTime.now(cache)));
        return checked.verdict().changes().isEmpty()
                ? CompletableFuture.completedFuture(Optional.of(checked))
                : write(monitored, checked, tries + 1);
    }
}
