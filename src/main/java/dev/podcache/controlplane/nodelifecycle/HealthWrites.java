package dev.podcache.controlplane.nodelifecycle;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.controlplane.cluster.ClusterCache;
import dev.podcache.controlplane.cluster.ClusterWrites;
import dev.podcache.controlplane.cluster.ObservedNode;
import dev.podcache.controlplane.cluster.RequestSlots;
import dev.podcache.object.FailureReason;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Remembers the health of each node, and writes the conditions of nodes that are silent. Used by tasks of the cache's
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
    private final Map<String, NodeHealth> healths = new HashMap<>();

    HealthWrites(ClusterCache cache, ClusterWrites writes, HealthRules rules) {
        this.cache = cache;
        this.writes = writes;
        this.rules = rules;
        this.slots = new RequestSlots(cache.loop(), REQUESTS);
    }

    /** Decides about a node, and remembers its health. */
    HealthVerdict check(ObservedNode node, CheckTime now) {
        String name = node.name();
        NodeHealth known = healths.get(name);
        HealthVerdict verdict = rules.check(known, node, cache.renewTime(name), now);
        if (!verdict.health().equals(known)) {
            healths.put(name, verdict.health());
        }
        return verdict;
    }

    /**
     * Writes the changes of a decision. If that fails, reads the Node and decides again, up to five times in all.
     *
     * @return the node as written; empty if it could not be written, or does not exist any more. Completed by a task of
     *     the loop
     */
    CompletableFuture<Optional<CheckedNode>> write(ObservedNode node, HealthVerdict verdict) {
        return write(node, verdict, 1);
    }

    /** Returns the health of a node; null if it is not known. */
    @Nullable
    NodeHealth of(String node) {
        return healths.get(node);
    }

    void forget(String node) {
        healths.remove(node);
    }

    /** Takes this moment for the last sign of life of all nodes. */
    void restartGracePeriods() {
        healths.replaceAll((node, health) -> health.probed(cache.watchedNanos()));
    }

    private CompletableFuture<Optional<CheckedNode>> write(ObservedNode node, HealthVerdict verdict, int tries) {
        return slots.send(() -> writes.patchConditions(node, verdict.changes()))
                .thenApply(written -> Optional.of(written(ObservedNode.of(written), verdict)))
                .exceptionallyCompose(failure -> again(node, tries, failure));
    }

    private CheckedNode written(ObservedNode written, HealthVerdict verdict) {
        NodeHealth health = verdict.health().written(written);
        healths.put(written.name(), health);
        return new CheckedNode(written, verdict);
    }

    private CompletableFuture<Optional<CheckedNode>> again(ObservedNode node, int tries, Throwable failure) {
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
                .thenCompose(read -> decideAgain(ObservedNode.of(read), tries));
    }

    private CompletableFuture<Optional<CheckedNode>> decideAgain(ObservedNode node, int tries) {
        HealthVerdict verdict = check(node, CheckTime.now(cache));
        return verdict.changes().isEmpty()
                ? CompletableFuture.completedFuture(Optional.of(new CheckedNode(node, verdict)))
                : write(node, verdict, tries + 1);
    }
}
