package dev.podcache.kubelet.server;

import dev.podcache.time.TaskThreads;
import dev.podcache.time.Timekeeper;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connects a call with its client. The call, and what it copies, have threads of their own, because each of them may
 * block. Thread-safe.
 */
final class WebSocketSession {

    private static final Logger log = LoggerFactory.getLogger(WebSocketSession.class);
    private static final int BUFFER = 16 << 10;

    static final Duration PING_PERIOD = Duration.ofSeconds(30);

    /** While the call takes no message, only a failed ping shows that the client has left: the second one after it left. */
    static final Duration HELD_UP_PING_PERIOD = Duration.ofSeconds(5);

    private final KubeletResponse.Upgrade upgrade;
    private final MessageChannel client;
    private final TaskThreads threads;
    private final Timekeeper timekeeper;

    // whoever sets it runs upgrade.release(): the thread at its end, or the close if the thread never began
    private final AtomicBoolean begun = new AtomicBoolean();

    /** A part of a call, which may block. */
    interface Task {
        void run() throws IOException, InterruptedException;
    }

    WebSocketSession(
            KubeletResponse.Upgrade upgrade, MessageChannel client, TaskThreads threads, Timekeeper timekeeper) {
        this.upgrade = upgrade;
        this.client = client;
        this.threads = threads;
        this.timekeeper = timekeeper;
    }

    /** Starts the call. Call it once. */
    void start() {
        Future<?> running = threads.submit(() -> {
            run();
            return upgrade;
        });
        client.closed().whenComplete((closed, thrown) -> {
            running.cancel(true);
            if (begun.compareAndSet(false, true)) {
                upgrade.release().run();
            }
        });
        if (running.isCancelled()) {
            client.close();
        }
        pingLater(Duration.ZERO);
    }

    private void pingLater(Duration sincePing) {
        timekeeper.schedule(HELD_UP_PING_PERIOD, () -> {
            if (hasClientLeft()) {
                return;
            }
            Duration waited = sincePing.plus(HELD_UP_PING_PERIOD);
            if (client.isHeldUp() || waited.compareTo(PING_PERIOD) >= 0) {
                client.ping();
                pingLater(Duration.ZERO);
            } else {
                pingLater(waited);
            }
        });
    }

    private void run() {
        if (!begun.compareAndSet(false, true)) {
            return;
        }
        try {
            upgrade.call().run(this);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException | Error e) {
            log.warn("{} failed; closing the WebSocket", upgrade.call(), e);
        } finally {
            client.close();
            upgrade.release().run();
        }
    }

    /** Sends a message, which the caller must not modify afterwards. Does not wait. */
    void send(byte[] message) {
        client.send(message);
    }

    /**
     * Sends a stream to its end. Each part is sent before the next one is read, so a slow client slows down the runtime
     * and no memory is used.
     */
    void sendAll(InputStream stream, int channel) throws IOException, InterruptedException {
        byte[] buffer = new byte[BUFFER];
        for (int length = stream.read(buffer); length >= 0; length = stream.read(buffer)) {
            if (length > 0) {
                CompletableFuture<?> sent = client.send(ChannelFrames.message(channel, buffer, length));
                if (!timekeeper.await(sent, LogTransfer.STALLED) || sent.isCompletedExceptionally()) {
                    client.close();
                    throw new IOException("the client did not receive a message");
                }
            }
        }
    }

    /** Receives messages as {@link MessageChannel#receive} does. */
    void receive(Function<byte[], CompletableFuture<?>> receiver) {
        client.receive(receiver);
    }

    boolean hasClientLeft() {
        return client.closed().isDone();
    }

    /** Waits for a future until the client leaves, at most 4 h. Returns whether one of them has happened. */
    boolean await(CompletableFuture<?> future) throws InterruptedException {
        return timekeeper.await(CompletableFuture.anyOf(future, client.closed()), LogTransfer.STALLED);
    }

    /** Runs {@code call} on a thread of its own when the client has left. */
    void whenClientLeaves(Runnable call) {
        client.closed().whenComplete((closed, thrown) -> onThread(call));
    }

    /**
     * Runs a task on a thread of its own, which is interrupted when the client leaves. The future completes at its end and
     * does not fail.
     */
    CompletableFuture<?> run(Task task) {
        CompletableFuture<Object> end = new CompletableFuture<>();
        Future<?> running = threads.submit(() -> {
            try {
                task.run();
            } catch (IOException e) {
                log.debug("a stream of {} ended: {}", upgrade.call(), e.getMessage());
            } finally {
                end.complete(task);
            }
            return task;
        });
        client.closed().whenComplete((closed, thrown) -> running.cancel(true));
        return end;
    }

    /** Runs a call of the runtime on a thread of its own. The future completes at its end and does not fail. */
    CompletableFuture<?> onThread(Runnable call) {
        CompletableFuture<Object> done = new CompletableFuture<>();
        Future<?> submitted = threads.submit(() -> {
            try {
                call.run();
            } catch (RuntimeException | Error e) {
                log.warn("a call of the runtime about {} failed", upgrade.call(), e);
            } finally {
                done.complete(call);
            }
            return call;
        });
        if (submitted.isCancelled()) {
            done.complete(call);
        }
        return done;
    }
}
