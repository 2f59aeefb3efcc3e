package dev.podcache.kubelet.nodestatus;

import dev.podcache.apiserver.Retries;
import dev.podcache.kubelet.nodestatus.StatusReports.Computed;
import dev.podcache.node.NodeLister;
import dev.podcache.time.Pause;
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
 * Reports the readiness of a starting node at once, without waiting for the next sync. Computes the status ten times a
 * second, for at most two minutes, and reports it when the Ready condition becomes True. Makes no request before that.
 */
final class FastStatusUpdate implements AutoCloseable {

    // After fastNodeStatusUpdate of kubernetes/kubernetes, pkg/kubelet/kubelet.go.

    private static final Logger log = LoggerFactory.getLogger(NodeStatusUpdater.class);
    private static final Duration PERIOD = Duration.ofMillis(100);
    private static final Duration TIMEOUT = Duration.ofSeconds(120);
    private static final Retries SYNC = Retries.atOnce();

    private final SerialTasks tasks;
    private final NodeLister lister;
    private final StatusReports reports;
    private final Timekeeper timekeeper;
    private final Runnable sync;
    private final Pause pause;
    private volatile long startTime; // nanoseconds

    /** The result of a check. */
    private enum Decision {
        NOT_YET,
        DONE,
        REPORT_FAILED
    }

    /**
     * Creates a fast update that is not started.
     *
     * @param parts shared with the updater
     * @param sync requests a sync, which reads from the server and makes more than one try
     */
    FastStatusUpdate(UpdateParts parts, Timekeeper timekeeper, Runnable sync) {
        this.tasks = parts.tasks;
        this.lister = parts.lister;
        this.reports = parts.reports;
        this.timekeeper = timekeeper;
        this.sync = sync;
        this.pause = new Pause(timekeeper);
    }

    /** The objects that a fast update shares with the updater. */
    record UpdateParts(SerialTasks tasks, NodeLister lister, StatusReports reports) {}

    /** Starts the checks, on the caller's thread. Call it once. */
    void start() {
        startTime = timekeeper.nanoTime();
        check();
    }

    /** Starts no further check. The current check continues. Idempotent. */
    @Override
    public void close() {
        pause.close();
    }

    private void check() {
        tasks.run(() -> CompletableFuture.supplyAsync(this::reportIfReady, timekeeper.blocking())
                        .thenCompose(decision -> decision))
                .whenComplete((decision, thrown) -> {
                    if (thrown != null) {
                        log.error(
                                "readiness check of Node {} failed; this is a bug; a sync follows",
                                lister.name(),
                                thrown);
                    }
                    if (decision == Decision.NOT_YET) {
                        pause.then(PERIOD, this::check);
                    } else if (decision != Decision.DONE) {
                        sync.run();
                    }
                });
    }

    private CompletableFuture<Decision> reportIfReady() {
        if (timekeeper.nanoTime() - startTime >= TIMEOUT.toNanos()) {
            log.info(
                    "Node {} is not ready after {} s; the next syncs will report it",
                    lister.name(),
                    TIMEOUT.toSeconds());
            return CompletableFuture.completedFuture(Decision.DONE);
        }
        Optional<Node> known = lister.get();
        String before = known.map(FastStatusUpdate::ready).orElse(null);
        if (known.isEmpty() || before == null) {
            return CompletableFuture.completedFuture(Decision.NOT_YET);
        }
        if (before.equals(NodeConditions.TRUE)) {
            return CompletableFuture.completedFuture(Decision.DONE);
        }
        Computed computed = reports.compute(known.get());
        if (!reports.isChanged(computed) || !NodeConditions.TRUE.equals(ready(computed.node()))) {
            return CompletableFuture.completedFuture(Decision.NOT_YET);
        }
        return reports.send(computed).handle((done, thrown) -> decide(thrown)).thenCompose(decision -> decision);
    }

    /** Completes after the pause that the server asks for, and so delays the other tasks. */
    private CompletableFuture<Decision> decide(@Nullable Throwable thrown) {
        if (thrown == null) {
            return CompletableFuture.completedFuture(Decision.DONE);
        }
        Failure failure = Failure.of(thrown);
        if (!failure.isCancelled()) {
            log.debug("report that Node {} is ready failed: {}; retrying", lister.name(), failure.message());
        }
        return pause.over(SYNC.pause(1, 0, failure.cause())).thenApply(over -> Decision.REPORT_FAILED);
    }

    private static @Nullable String ready(Node node) {
        NodeCondition ready = node.getStatus() == null ? null : NodeConditions.find(node, "Ready");
        return ready == null ? null : ready.getStatus();
    }
}
