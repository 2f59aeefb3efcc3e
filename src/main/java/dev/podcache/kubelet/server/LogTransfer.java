package dev.podcache.kubelet.server;

import dev.podcache.time.TaskThreads;
import dev.podcache.time.Timekeeper;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies a stream of the runtime to a client, on a thread of its own. Each part is sent before the next one is read, so
 * a slow client slows down the runtime and no memory is used. When the client leaves, the stream is closed and its
 * thread interrupted.
 */
final class LogTransfer {

    /** How long a client may read nothing: the kubelet's {@code streamingConnectionIdleTimeout}. */
    static final Duration STALLED = Duration.ofHours(4);

    private static final Logger log = LoggerFactory.getLogger(LogTransfer.class);
    private static final int BUFFER = 16 << 10;

    private final KubeletResponse.Streamed source;
    private final ResponseStream client;
    private final TaskThreads threads;
    private final Timekeeper timekeeper;

    // whoever sets it runs source.release(): the thread at its end, or the close if the thread never began
    private final AtomicBoolean begun = new AtomicBoolean();

    LogTransfer(KubeletResponse.Streamed source, ResponseStream client, TaskThreads threads, Timekeeper timekeeper) {
        this.source = source;
        this.client = client;
        this.threads = threads;
        this.timekeeper = timekeeper;
    }

    /** Starts the transfer. Call it once. */
    void start() {
        Future<?> copying = threads.submit(() -> {
            run();
            return source;
        });
        client.closed().whenComplete((closed, thrown) -> {
            copying.cancel(true);
            stop();
        });
        if (copying.isCancelled()) {
            client.abort();
        }
    }

    /** Ends a blocking read by closing its stream. */
    private void stop() {
        Future<?> closing = threads.submit(() -> {
            close();
            return source;
        });
        if (closing.isCancelled()) {
            close();
        }
        if (begun.compareAndSet(false, true)) {
            source.release().run();
        }
    }

    private void run() {
        if (!begun.compareAndSet(false, true)) {
            return;
        }
        try {
            copy();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException | RuntimeException | Error e) {
            if (!client.closed().isDone()) {
                log.warn("reading the logs of a container failed; the response is cut off", e);
            }
        } finally {
            client.abort();
            close();
            source.release().run();
        }
    }

    private void copy() throws IOException, InterruptedException {
        byte[] buffer = new byte[BUFFER];
        InputStream content = source.content();
        for (int length = content.read(buffer); length >= 0; length = content.read(buffer)) {
            CompletableFuture<?> written = client.write(Arrays.copyOf(buffer, length));
            if (!timekeeper.await(written, STALLED) || written.isCompletedExceptionally()) {
                return;
            }
        }
        client.end();
    }

    private void close() {
        try {
            source.content().close();
        } catch (IOException | RuntimeException e) {
            log.debug("closing the logs of a container failed", e);
        }
    }
}
