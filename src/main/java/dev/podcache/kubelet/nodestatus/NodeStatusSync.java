package dev.podcache.kubelet.nodestatus;

import dev.podcache.apiserver.ObjectApi;
import dev.podcache.apiserver.Retries;
import dev.podcache.kubelet.nodestatus.StatusReports.Computed;
import dev.podcache.node.NodeLister;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.time.Pause;
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
 * Runs a sync: registers the Node if necessary, then reads it, computes its status, and reports that if it has changed
 * or a report is due. Makes up to five tries, with no pause but those that the server asks for. If the server answers
 * the last try with such a pause, the sync ends after the pause, so that no other task makes a request during it. Used
 * only by tasks of {@link SerialTasks}, except for the methods that may be called from any thread.
 */
final class NodeStatusSync implements AutoCloseable {

    // After syncNodeStatus and updateNodeStatus of kubernetes/kubernetes, pkg/kubelet/kubelet_node_status.go.

    private static final Logger log = LoggerFactory.getLogger(NodeStatusUpdater.class);
    private static final int TRIES = 5;
    private static final String NOT_REPORTED = "status of Node {} was not reported: {}; retrying";
    private static final String DELETED =
            "Node {} was deleted, so it is neither registered nor reported any more; restart the agent or create the Node"
                    + " to undo this";
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
    private volatile boolean deleted; // written by tasks of SerialTasks
    private volatile boolean registered; // written by tasks of SerialTasks
    private volatile @Nullable String problem; // written by tasks of SerialTasks

    NodeStatusSync(SyncParts parts, NodeLister lister, NodeStatusOptions options, Timekeeper timekeeper) {
        this.api = parts.api;
        this.registration = parts.registration;
        this.reports = parts.reports;
        this.lister = lister;
        this.options = options;
        this.blocking = timekeeper.blocking();
        this.pause = new Pause(timekeeper);
    }

    /** The objects that a sync shares with the updater. */
    record SyncParts(ObjectApi<Node> api, NodeRegistration registration, StatusReports reports) {}

    /**
     * Runs one sync. The future never fails. It does not complete before the Node is registered, and may never complete
     * after {@link #close}.
     */
    CompletableFuture<Void> run() {
        mayRegisterAgain = true;
        return registerAndUpdate().handle((done, thrown) -> {
            if (thrown == null) {
                succeeded();
            } else {
                failed(NOT_REPORTED, Failure.of(thrown));
            }
            return null;
        });
    }

    /** Cancels the current pause, and makes no try after a later one. May be called from any thread. Idempotent. */
    @Override
    public void close() {
        pause.close();
    }

    /** Returns whether the Node is registered. May be called from any thread. */
    boolean isRegistered() {
        return registered;
    }

    /** Returns whether the Node was deleted and is not to be registered again. May be called from any thread. */
    boolean isDeleted() {
        return deleted;
    }

    /** Returns why the last attempt failed; empty if it succeeded. May be called from any thread. */
    Optional<String> problem() {
        return Optional.ofNullable(problem);
    }

    private CompletableFuture<Void> registerAndUpdate() {
        if (deleted && lister.get().isEmpty()) {
            return CompletableFuture.failedFuture(new IllegalStateException("Node is deleted"));
        }
        if (registered || deleted || !options.registersNode()) {
            return tryUpdate(0);
        }
        return registration
                .register(failure -> failed("Node {} was not registered: {}; retrying", failure))
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
        // the lister's Node costs no request; if the report fails, the next try reads from the server
        return lister.get()
                .map(CompletableFuture::completedFuture)
                .orElseGet(() -> CompletableFuture.failedFuture(
                        new IllegalStateException(lister.problem().orElse("Node is not known"))));
    }

    private CompletableFuture<Void> reportIfDue(Node original) {
        Computed computed = reports.compute(original);
        return reports.isChanged(computed) || reports.isDue() ? reports.send(computed) : done();
    }

    private CompletableFuture<Void> tryAgain(int attempt, Failure failure) {
        if (failure.isCancelled()) {
            return CompletableFuture.failedFuture(failure.cause());
        }
        log.debug("try {} of {} to sync Node {} failed: {}", attempt + 1, TRIES, lister.name(), failure.message());
        if (failure.is(FailureReason.NOT_FOUND) && options.registersNode()) {
            return registerAgain(failure);
        }
        if (attempt > 0) {
            notifyRepeatedFailure();
        }
        return pauseAfter(failure, attempt + 1)
                .thenCompose(over -> attempt + 1 < TRIES
                        ? tryUpdate(attempt + 1)
                        : CompletableFuture.<Void>failedFuture(failure.cause()));
    }

    private CompletableFuture<@Nullable Void> pauseAfter(Failure failure, int failures) {
        Duration asked = RETRIES.pause(failures, 0, failure.cause());
        if (!asked.isZero()) {
            // report the problem before the pause, which may be long
            failed(NOT_REPORTED, failure);
        }
        return pause.over(asked);
    }

    /** Registers a deleted Node again, if allowed, once in a sync. If it is deleted again, the next sync registers it. */
    private CompletableFuture<Void> registerAgain(Failure failure) {
        registered = false;
        if (!options.registersAgain()) {
            deleted();
            return CompletableFuture.failedFuture(failure.cause());
        }
        if (!mayRegisterAgain) {
            return CompletableFuture.failedFuture(failure.cause());
        }
        mayRegisterAgain = false;
        log.warn("Node {} was deleted; registering it again", lister.name());
        return registerAndUpdate();
    }

    private void deleted() {
        if (!deleted) {
            deleted = true;
            failing = true;
            problem = "Node " + lister.name() + " was deleted";
            log.warn(DELETED, lister.name());
        }
    }

    private void notifyRepeatedFailure() {
        try {
            options.onRepeatedFailure().run();
        } catch (RuntimeException e) {
            log.error("onRepeatedFailure of Node {} threw; syncs continue", lister.name(), e);
        }
    }

    private void succeeded() {
        problem = null;
        if (deleted) {
            // another client has created the Node
            deleted = false;
            registered = true;
        }
        if (failing) {
            failing = false;
            log.info("status of Node {} is reported again", lister.name());
        }
    }

    private void failed(String message, Failure failure) {
        if (failure.isCancelled() || deleted) {
            return;
        }
        problem = failure.message();
        if (failing) {
            log.debug(message, lister.name(), failure.message());
        } else {
            failing = true;
            log.warn(message, lister.name(), failure.message());
        }
    }

    private static CompletableFuture<Void> done() {
        return CompletableFuture.completedFuture(null);
    }
}
