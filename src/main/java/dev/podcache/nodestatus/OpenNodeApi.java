package dev.podcache.nodestatus;

import dev.podcache.apiserver.NodeApi;
import io.fabric8.kubernetes.api.model.Node;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A {@link NodeApi} that makes no request once it is closed: its calls are then answered with a cancellation. So are
 * those under way that fail then, because it may be the closing that they fail of.
 */
final class OpenNodeApi implements NodeApi, AutoCloseable {

    private final NodeApi api;
    private volatile boolean closed;

    OpenNodeApi(NodeApi api) {
        this.api = api;
    }

    @Override
    public CompletableFuture<Node> get(String name) {
        return unlessClosed(() -> api.get(name));
    }

    @Override
    public CompletableFuture<Node> create(Node node) {
        return unlessClosed(() -> api.create(node));
    }

    @Override
    public CompletableFuture<Node> patchStatus(String name, String patch) {
        return unlessClosed(() -> api.patchStatus(name, patch));
    }

    /** Idempotent. */
    @Override
    public void close() {
        closed = true;
    }

    private CompletableFuture<Node> unlessClosed(Supplier<CompletableFuture<Node>> request) {
        return closed
                ? CompletableFuture.failedFuture(cancelled(null))
                : request.get()
                        .exceptionallyCompose(
                                thrown -> CompletableFuture.failedFuture(closed ? cancelled(thrown) : thrown));
    }

    private static CancellationException cancelled(@Nullable Throwable cause) {
        CancellationException cancelled = new CancellationException("closed");
        cancelled.initCause(cause);
        return cancelled;
    }
}
