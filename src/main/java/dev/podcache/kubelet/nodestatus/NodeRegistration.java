package dev.podcache.kubelet.nodestatus;

import dev.podcache.apiserver.ObjectApi;
import dev.podcache.apiserver.Retries;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.time.Pause;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Node;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates the Node, or corrects the existing one, and repeats that until it succeeds. The first attempt is made after
 * 100 ms. Later pauses double from 200 ms to 7 s, or are longer if the server asks for it. Runs one registration at a
 * time.
 */
final class NodeRegistration implements AutoCloseable {

    // After registerWithAPIServer and tryRegisterWithAPIServer of kubernetes/kubernetes,
    // pkg/kubelet/kubelet_node_status.go.

    private static final Logger log = LoggerFactory.getLogger(NodeRegistration.class);
    private static final Duration FIRST_ATTEMPT = Duration.ofMillis(100);
    private static final Retries RETRIES = new Retries(Duration.ofMillis(200), Duration.ofSeconds(7));
    private static final double NO_JITTER = 0;

    private final ObjectApi<Node> api;
    private final Supplier<Node> initial;
    private final Timekeeper timekeeper;
    private final Pause pause;

    /**
     * Creates an object that makes no request yet.
     *
     * @param initial computes the Node to create; may block
     */
    NodeRegistration(ObjectApi<Node> api, Supplier<Node> initial, Timekeeper timekeeper) {
        this.api = api;
        this.initial = initial;
        this.timekeeper = timekeeper;
        this.pause = new Pause(timekeeper);
    }

    /**
     * Registers the Node. Repeats failed attempts without limit.
     *
     * @param failed called after each failed attempt
     * @return completes when the Node exists and is correct; after {@link #close}, it may never complete
     */
    CompletableFuture<Void> register(Consumer<Failure> failed) {
        CompletableFuture<Void> registered = new CompletableFuture<>();
        attemptAfter(FIRST_ATTEMPT, 1, registered, failed);
        return registered;
    }

    /** Starts no further attempt. Idempotent. */
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

    /** Makes one attempt. Computes the Node again, because its status may have changed since the last attempt. */
    CompletableFuture<Void> attempt() {
        return CompletableFuture.supplyAsync(initial, timekeeper.blocking())
                .thenCompose(node -> api.create(node)
                        .handleAsync((created, thrown) -> created(node, thrown), timekeeper.blocking())
                        .thenCompose(next -> next));
    }

    private CompletableFuture<Void> created(Node node, @Nullable Throwable thrown) {
        String name = node.getMetadata().getName();
        if (thrown == null) {
            log.info("created Node {}", name);
            return CompletableFuture.completedFuture(null);
        }
        Failure failure = Failure.of(thrown);
        // without permission to create Nodes, the Node may still exist, created by an administrator
        if (!failure.is(FailureReason.ALREADY_EXISTS) && !failure.is(FailureReason.FORBIDDEN)) {
            return CompletableFuture.failedFuture(failure.cause());
        }
        return api.get(ObjectKey.of("", name))
                .handleAsync(
                        (existing, notRead) -> notRead == null
                                ? reconcile(node, existing)
                                : CompletableFuture.<Void>failedFuture(failureToReport(failure, notRead)),
                        timekeeper.blocking())
                .thenCompose(next -> next);
    }

    /**
     * Returns the failure to report if the Node was neither created nor read. If creating is forbidden, that is the
     * real problem, but a pause that the server asks for is always respected.
     */
    private static Throwable failureToReport(Failure notCreated, Throwable notRead) {
        return notCreated.is(FailureReason.FORBIDDEN) && !Retries.asksForPause(notRead) ? notCreated.cause() : notRead;
    }

    private CompletableFuture<Void> reconcile(Node wanted, Node existing) {
        String name = wanted.getMetadata().getName();
        Node reconciled = NodeStatusDifference.copy(existing);
        if (!NodeReconciler.reconcile(wanted, reconciled)) {
            log.info("Node {} already exists and is correct", name);
            return CompletableFuture.completedFuture(null);
        }
        return api.patchStatus(ObjectKey.of("", name), NodeStatusDifference.patch(existing, reconciled))
                .thenAccept(patched -> log.info("Node {} already existed and was corrected", name));
    }
}
