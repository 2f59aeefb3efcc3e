package dev.podcache.kubelet.nodestatus;

import dev.podcache.apiserver.ObjectApi;
import dev.podcache.apiserver.Retries;
import dev.podcache.kubelet.nodestatus.NodeStatusComputation.Computed;
import dev.podcache.node.NodeLister;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Node;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One sync: registers the Node if that is due; then reads it, computes what it should be, and reports that if it
 * is news or a report is due, in up to five tries, back to back unless the server asks for a pause. A sync whose
 * last try was answered with that ends after the pause, so that nobody else asks within it. Used in a turn only,
 * but for what it says about itself.
 */
final class NodeStatusSync implements AutoCloseable {

    // After syncNodeStatus and updateNodeStatus of kubernetes/kubernetes, pkg/kubelet/kubelet_node_status.go.

    private static final Logger log = LoggerFactory.getLogger(NodeStatusUpdater.class);
    private static final int TRIES = 5;
    private static final String UNREPORTED = "status of Node {} cannot be reported, trying on: {}";
    private static final Retries RETRIES = Retries.atOnce();

    private final ObjectApi<Node> api;
    private final NodeLister lister;
    private final NodeRegistration registration;
    private final StatusReports reports;
    private final NodeStatusOptions options;
    private final Executor blocking;
    private final Pause pause;

    private boolean mayRegisterAgain;
    private boolean failing;
    private volatile boolean registered; // written in a turn
    private volatile @Nullable String problem; // written in a turn

    NodeStatusSync(SyncParts parts, NodeLister lister, NodeStatusOptions options, Timekeeper timekeeper) {
        this.api = parts.api;
        this.registration = parts.registration;
        this.reports = parts.reports;
        this.lister = lister;
        this.options = options;
        this.blocking = timekeeper.blocking();
        this.pause = new Pause(timekeeper);
    }

    /** What a sync works with. */
    record SyncParts(ObjectApi<Node> api, NodeRegistration registration, StatusReports reports) {}

    /**
     * Syncs. The future never fails; while the Node cannot be registered it is not done either, nor
     * after {@link #close}, perhaps.
     */
    CompletableFuture<Void> run() {
        mayRegisterAgain = true;
        return registerAndUpdate().handle((done, thrown) -> {
            if (thrown == null) {
                succeeded();
            } else {
                failed(UNREPORTED, Failure.of(thrown));
            }
            return null;
        });
    }

    /** No try after a pause. From any thread. Idempotent. */
    @Override
    public void close() {
        pause.close();
    }

    /** From any thread. */
    boolean isRegistered() {
        return registered;
    }

    /** From any thread. */
    Optional<String> problem() {
        return Optional.ofNullable(problem);
    }

    private CompletableFuture<Void> registerAndUpdate() {
        if (registered || !options.registersNode()) {
            return tryUpdate(0);
        }
        return registration
                .register(failure -> failed("Node {} cannot be registered, trying on: {}", failure))
                .thenCompose(done -> {
                    registered = true;
                    reports.forget();
                    return tryUpdate(0);
                });
    }

    private CompletableFuture<Void> tryUpdate(int attempt) {
        return read(attempt)
                .thenComposeAsync(this::reportIfDue, blocking)
                .handleAsync(
                        (done, thrown) -> thrown == null ? done() : tryAgain(attempt, Failure.of(thrown)), blocking)
                .thenCompose(next -> next);
    }

    private CompletableFuture<Node> read(int attempt) {
        if (attempt > 0) {
            return api.get(ObjectKey.of("", lister.name()));
        }
        // what is known costs no request; only if that is no good base is the server asked
        return lister.get()
                .map(CompletableFuture::completedFuture)
                .orElseGet(() -> CompletableFuture.failedFuture(
                        new IllegalStateException(lister.problem().orElse("Node is not known"))));
    }

    private CompletableFuture<Void> reportIfDue(Node original) {
        Computed computed = reports.compute(original);
        return reports.isNews(computed) || reports.isOverdue() ? reports.send(computed) : done();
    }

    private CompletableFuture<Void> tryAgain(int attempt, Failure failure) {
        if (failure.isCancelled()) {
            return CompletableFuture.failedFuture(failure.cause());
        }
        log.debug("Node {}: try {} of {} failed: {}", lister.name(), attempt + 1, TRIES, failure.message());
        if (failure.is(FailureReason.NOT_FOUND) && options.registersNode()) {
            return gone(failure);
        }
        if (attempt > 0) {
            tellRepeatedFailure();
        }
        return pauseAfter(failure, attempt + 1)
                .thenCompose(over -> attempt + 1 < TRIES
                        ? tryUpdate(attempt + 1)
                        : CompletableFuture.<Void>failedFuture(failure.cause()));
    }

    private CompletableFuture<@Nullable Void> pauseAfter(Failure failure, int failures) {
        Duration asked = RETRIES.pause(failures, 0, failure.cause());
        if (!asked.isZero()) {
            // it may be long, and nobody should wait for its end to learn of the trouble
            failed(UNREPORTED, failure);
        }
        return pause.over(asked);
    }

    /** Somebody has deleted the Node: once a sync it is registered again, then the next sync does. */
    private CompletableFuture<Void> gone(Failure failure) {
        registered = false;
        if (!mayRegisterAgain) {
            return CompletableFuture.failedFuture(failure.cause());
        }
        mayRegisterAgain = false;
        log.warn("Node {} does not exist any more; it is registered again", lister.name());
        return registerAndUpdate();
    }

    private void tellRepeatedFailure() {
        try {
            options.onRepeatedFailure().run();
        } catch (RuntimeException e) {
            log.error("what is run on repeated failures of node status updates failed; this is a bug in it", e);
        }
    }

    private void succeeded() {
        problem = null;
        if (failing) {
            failing = false;
            log.info("status of Node {} is reported again", lister.name());
        }
    }

    private void failed(String what, Failure failure) {
        if (failure.isCancelled()) {
            return;
        }
        problem = failure.message();
        if (failing) {
            log.debug(what, lister.name(), failure.message());
        } else {
            failing = true;
            log.warn(what, lister.name(), failure.message());
        }
    }

    private static CompletableFuture<Void> done() {
        return CompletableFuture.completedFuture(null);
    }
}
