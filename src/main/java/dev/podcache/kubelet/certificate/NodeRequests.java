package dev.podcache.kubelet.certificate;

import dev.podcache.kubelet.certificate.CertificateRequestException.Reason;
import java.io.IOException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Requests certificates of one node, one at a time, and keeps them in its files. Files are read and written on {@link
 * dev.podcache.time.Timekeeper#blocking()}. Thread-safe; no method blocks.
 */
final class NodeRequests implements AutoCloseable {

    private final String node;
    private final CertificateFiles files;
    private final SigningRequests server;
    private final boolean bootstrap;
    private final Consumer<String> progress;
    private @Nullable PendingRequest pending; // guarded by this
    private boolean closed; // guarded by this

    /**
     * Creates an instance that has sent nothing.
     *
     * @param bootstrap whether the credentials are those of a bootstrap
     * @param progress receives lines for people
     */
    NodeRequests(NodeCertificate certificate, SigningRequests server, boolean bootstrap, Consumer<String> progress) {
        this.node = certificate.node();
        this.files = certificate.files();
        this.server = server;
        this.bootstrap = bootstrap;
        this.progress = progress;
    }

    /**
     * Takes up the request that is pending, or makes another one. Not to be called again before its result is known.
     *
     * @return the certificate, once it is in use; or exceptionally a {@link CertificateRequestException}, or a {@link
     *     CancellationException} after {@link #close}
     */
    CompletableFuture<CertifiedKey> next() {
        CompletableFuture<CertifiedKey> result = new CompletableFuture<>();
        server.timekeeper().blocking().execute(() -> {
            try {
                send(files.request(node), result);
            } catch (IOException e) {
                result.completeExceptionally(RequestFailures.ofFiles(e));
            } catch (RuntimeException | Error e) {
                result.completeExceptionally(e);
            }
        });
        return result;
    }

    private void send(SigningRequest request, CompletableFuture<CertifiedKey> result) {
        PendingRequest sent = new PendingRequest(server, request, bootstrap, progress);
        synchronized (this) {
            if (closed) {
                result.cancel(false);
                return;
            }
            pending = sent;
        }
        sent.start()
                .whenComplete((identity, thrown) ->
                        server.timekeeper().blocking().execute(() -> end(identity, thrown, result)));
    }

    private void end(
            @Nullable CertifiedKey identity, @Nullable Throwable thrown, CompletableFuture<CertifiedKey> result) {
        try {
            if (identity != null) {
                files.store(node, identity, server.timekeeper().wallTime());
                files.dropRequest();
                result.complete(identity);
                return;
            }
            Throwable failure = thrown == null ? new CancellationException() : thrown;
            if (failure instanceof CertificateRequestException refused && needsNewKey(refused)) {
                files.dropRequest();
            }
            result.completeExceptionally(failure);
        } catch (IOException e) {
            result.completeExceptionally(RequestFailures.ofFiles(e));
        } catch (RuntimeException | Error e) {
            result.completeExceptionally(e);
        }
    }

    /** A bootstrap that was denied finds its request again at the next start, instead of adding one at each start. */
    private boolean needsNewKey(CertificateRequestException refused) {
        boolean ends = bootstrap && (refused.reason() == Reason.DENIED || refused.reason() == Reason.FAILED);
        return refused.needsNewKey() && !ends;
    }

    /** Stops to wait for the request, which stays pending. Idempotent. */
    @Override
    public void close() {
        PendingRequest open;
        synchronized (this) {
            closed = true;
            open = pending;
        }
        if (open != null) {
            open.close();
        }
    }
}
