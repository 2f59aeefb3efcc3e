package dev.podcache.kubelet.nodestatus;

import dev.podcache.apiserver.ObjectApi;
import dev.podcache.apiserver.Retries;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Node;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sees to it that the Node is there: creates it, or puts right the one that there is, and tries until that
 * succeeds: after 100 ms, and then after pauses that double from 200 ms to 7 s, or are longer if the server asks
 * for it. One registration at a time.
 */
final class NodeRegistration implements AutoCloseable {

    // After registerWithAPIServer and tryRegisterWithAPIServer of kubernetes/kubernetes,
    // pkg/kubelet/kubelet_node_status.go.

    private static final Logger log = LoggerFactory.getLogger(NodeRegistration.class);
    private static final Duration FIRST_ATTEMPT = Duration.ofMillis(100);
    private static final Retries RETRIES = new Retries(Duration.ofMillis(200), Duration.ofSeconds(7));
    private static final double NO_JITTER = 0;

    private final ObjectApi<Node> api;
    private final NodeStatusComputation computation;
    private final Timekeeper timekeeper;
    private final boolean resetExtended;
    private final Pause pause;

    /**
     * Does nothing yet.
     *
     * @param resetExtended as in {@link NodeReconciler#extendedResources}
     */
    NodeRegistration(
            ObjectApi<Node> api, NodeStatusComputation computation, Timekeeper timekeeper, boolean resetExtended) {
        this.api = api;
        this.computation = computation;
        this.timekeeper = timekeeper;
        this.resetExtended = resetExtended;
        this.pause = new Pause(timekeeper);
    }

    /**
     * Registers, however long that takes.
     *
     * @param failed told of each attempt that failed
     * @return done when the Node is there; after {@link #close}, perhaps never
     */
    CompletableFuture<Void> register(Consumer<Failure> failed) {
        CompletableFuture<Void> registered = new CompletableFuture<>();
        attemptAfter(FIRST_ATTEMPT, 1, registered, failed);
        return registered;
    }

    /** No further attempt. Idempotent. */
    @Override
    public void close() {
        pause.close();
    }

    private void attemptAfter(
            Duration length, int number, CompletableFuture<Void> registered, Consumer<Failure> failed) {
        pause.then(
                length,
                () -> attempt().whenComplete((done, thrown) -> {
                    if (thrown == null) {
                        registered.complete(null);
                        return;
                    }
                    Failure failure = Failure.of(thrown);
                    if (failure.isCancelled()) {
                        registered.completeExceptionally(failure.cause());
                        return;
                    }
                    failed.accept(failure);
                    Duration next = RETRIES.pause(number, NO_JITTER, failure.cause());
                    attemptAfter(next, number + 1, registered, failed);
                }));
    }

    /** Tries once; the Node to create is made anew, as the status may have changed since the last attempt. */
    CompletableFuture<Void> attempt() {
        return CompletableFuture.supplyAsync(() -> computation.initial(timekeeper.wallTime()), timekeeper.blocking())
                .thenCompose(initial -> api.create(initial)
                        .handleAsync((created, thrown) -> created(initial, thrown), timekeeper.blocking())
                        .thenCompose(next -> next));
    }

    private CompletableFuture<Void> created(Node initial, @Nullable Throwable thrown) {
        String name = initial.getMetadata().getName();
        if (thrown == null) {
            log.info("Node {} is created", name);
            return CompletableFuture.completedFuture(null);
        }
        Failure failure = Failure.of(thrown);
        // who may not create Nodes may still have one, made by an administrator
        if (!failure.is(FailureReason.ALREADY_EXISTS) && !failure.is(FailureReason.FORBIDDEN)) {
            return CompletableFuture.failedFuture(failure.cause());
        }
        return api.get(ObjectKey.of("", name))
                .handleAsync(
                        (existing, notRead) -> notRead == null
                                ? reconcile(initial, existing)
                                : CompletableFuture.<Void>failedFuture(worse(failure, notRead)),
                        timekeeper.blocking())
                .thenCompose(next -> next);
    }

    /**
     * Without a Node to be found, that we may not create one is the trouble, unless the server asks not to be asked.
     */
    private static Throwable worse(Failure notCreated, Throwable notRead) {
        return notCreated.is(FailureReason.FORBIDDEN) && !Retries.asksForPause(notRead) ? notCreated.cause() : notRead;
    }

    private CompletableFuture<Void> reconcile(Node initial, Node existing) {
        String name = initial.getMetadata().getName();
        Node reconciled = NodeJson.copy(existing);
        if (!NodeReconciler.reconcile(initial, reconciled, resetExtended)) {
            log.info("Node {} exists already and is as it should be", name);
            return CompletableFuture.completedFuture(null);
        }
        return api.patchStatus(ObjectKey.of("", name), NodeStatusPatch.between(existing, reconciled))
                .thenAccept(patched -> log.info("Node {} exists already and was put right", name));
    }
}
