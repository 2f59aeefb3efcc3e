package dev.podcache.kubelet.nodestatus;

import dev.podcache.apiserver.Retries;
import dev.podcache.kubelet.nodestatus.NodeStatusComputation.Computed;
import dev.podcache.node.NodeLister;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeCondition;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has a node that comes up be Ready for the cluster as soon as it is, and not a sync later: looks ten times a second
 * until the Node is Ready, for at most two minutes, and reports that once. Costs no request before.
 */
final class FastStatusUpdate implements AutoCloseable {

    // After fastNodeStatusUpdate of kubernetes/kubernetes, pkg/kubelet/kubelet.go.

    private static final Logger log = LoggerFactory.getLogger(NodeStatusUpdater.class);
    private static final Duration PERIOD = Duration.ofMillis(100);
    private static final Duration PATIENCE = Duration.ofSeconds(120);
    private static final Retries SYNC = Retries.atOnce();

    private final SerialTasks turns;
    private final NodeLister lister;
    private final StatusReports reports;
    private final Timekeeper timekeeper;
    private final Runnable sync;
    private final Pause pause;
    private volatile long began;

    /** What came of a look. */
    private enum Decision {
        NOT_YET,
        DONE,
        REPORT_FAILED
    }

    /**
     * Does nothing yet.
     *
     * @param parts of the updater
     * @param timekeeper measures and pauses
     * @param sync asks for a sync, which reads from the server and tries more than once
     */
    FastStatusUpdate(UpdateParts parts, Timekeeper timekeeper, Runnable sync) {
        this.turns = parts.turns;
        this.lister = parts.lister;
        this.reports = parts.reports;
        this.timekeeper = timekeeper;
        this.sync = sync;
        this.pause = new Pause(timekeeper);
    }

    /** What a fast update works with. */
    record UpdateParts(SerialTasks turns, NodeLister lister, StatusReports reports) {}

    /** Once only. */
    void start() {
        began = timekeeper.nanoTime();
        look();
    }

    /** The look that runs is the last. Idempotent. */
    @Override
    public void close() {
        pause.close();
    }

    private void look() {
        turns.take(() -> CompletableFuture.supplyAsync(this::reportIfReady, timekeeper.blocking())
                        .thenCompose(outcome -> outcome))
                .whenComplete((outcome, thrown) -> {
                    if (thrown != null) {
                        log.error("Node {}: a look whether it is ready failed; this is a bug", lister.name(), thrown);
                    }
                    if (outcome == Decision.NOT_YET) {
                        pause.then(PERIOD, this::look);
                    } else if (outcome != Decision.DONE) {
                        sync.run();
                    }
                });
    }

    private CompletableFuture<Decision> reportIfReady() {
        if (timekeeper.nanoTime() - began >= PATIENCE.toNanos()) {
            log.info("Node {} is not ready after {}; from now on only syncs report it", lister.name(), PATIENCE);
            return CompletableFuture.completedFuture(Decision.DONE);
        }
        Optional<Node> known = lister.get();
        String before = known.map(FastStatusUpdate::ready).orElse(null);
        if (known.isEmpty() || before == null) {
            return CompletableFuture.completedFuture(Decision.NOT_YET);
        }
        if (before.equals("True")) {
            return CompletableFuture.completedFuture(Decision.DONE);
        }
        Computed computed = reports.compute(known.get());
        if (!reports.isNews(computed) || !"True".equals(ready(computed.node()))) {
            return CompletableFuture.completedFuture(Decision.NOT_YET);
        }
        return reports.send(computed)
                .handle((done, thrown) -> outcomeOf(thrown))
                .thenCompose(outcome -> outcome);
    }

    /** Keeps its turn for as long as the server asks not to be asked. */
    private CompletableFuture<Decision> outcomeOf(@Nullable Throwable thrown) {
        if (thrown == null) {
            return CompletableFuture.completedFuture(Decision.DONE);
        }
        Failure failure = Failure.of(thrown);
        if (!failure.isCancelled()) {
            log.debug("Node {} is ready, but that was not reported: {}", lister.name(), failure.message());
        }
        return pause.over(SYNC.pause(1, 0, failure.cause())).thenApply(over -> Decision.REPORT_FAILED);
    }

    private static @Nullable String ready(Node node) {
        if (node.getStatus() == null) {
            return null;
        }
        return node.getStatus().getConditions().stream()
                .filter(condition -> "Ready".equals(condition.getType()))
                .findFirst()
                .map(NodeCondition::getStatus)
                .orElse(null);
    }
}
