package dev.podcache.kubelet.nodestatus;

import dev.podcache.apiserver.ObjectApi;
import dev.podcache.object.ObjectKey;
import io.fabric8.kubernetes.api.model.Node;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * An {@link ObjectApi} of Nodes that can be closed. After closing, it makes no request, and its calls fail with a
 * {@link CancellationException}. So do requests in progress that fail after closing, because their connection may have
 * been closed too.
 */
final class OpenNodeApi implements ObjectApi<Node>, AutoCloseable {

    private final ObjectApi<Node> api;
    private volatile boolean closed;

    OpenNodeApi(ObjectApi<Node> api) {
        this.api = api;
    }

    @Override
    public CompletableFuture<Node> get(ObjectKey key) {
        return unlessClosed(() -> api.get(key));
    }

    @Override
    public CompletableFuture<Node> create(Node node) {
        return unlessClosed(() -> api.create(node));
    }

    @Override
    public CompletableFuture<Node> update(Node node) {
        return unlessClosed(() -> api.update(node));
    }

    @Override
    public CompletableFuture<Node> patch(ObjectKey key, String patch) {
        return unlessClosed(() -> api.patch(key, patch));
    }

    @Override
    public CompletableFuture<Node> patchStatus(ObjectKey key, String patch) {
        return unlessClosed(() -> api.patchStatus(key, patch));
    }

    @Override
    public CompletableFuture<Node> delete(ObjectKey key, String uid) {
        return unlessClosed(() -> api.delete(key, uid));
    }

    /** Makes all further calls fail. Idempotent. */
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
