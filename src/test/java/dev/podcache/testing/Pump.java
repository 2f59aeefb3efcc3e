package dev.podcache.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One direction of a connection of {@link TcpProxy}: what one side sends is handed to the other when the conditions
 * allow. Thread-safe; {@link #read} and {@link #write} block, each on a thread of its own.
 */
final class Pump {

    // Chunks wait in a queue with the time they were read, so that delayed bytes do not hold up those behind them:
    // latency costs no throughput up to ROOM_WITH_DELAY on the way. The queue is short otherwise, for the sender is to
    // feel a receiver that takes nothing. All waiting is on this monitor, and every change of a condition ends it.

    private static final int CHUNK = 16 * 1024;
    private static final int ROOM = 4 * CHUNK;
    private static final int ROOM_WITH_DELAY = 8 * 1024 * 1024;
    private static final int PIECES_PER_SECOND = 20;

    /** Bytes and when they came; no bytes: the end, or the reset, of the side that they come from. */
    private record Chunk(ByteBuffer bytes, long arrivedNanos, boolean reset) {}

    private final ProxiedConnection connection;
    private final Socket from;
    private final Socket to;
    private final Deque<Chunk> queue = new ArrayDeque<>(); // guarded by this, like all below
    private int queuedBytes;
    private boolean frozen;
    private boolean stopped;
    private long delayNanos;
    private int bytesPerSecond;
    private long nextPieceNanos;
    private long bytesLeft = -1;

    Pump(ProxiedConnection connection, Socket from, Socket to) {
        this.connection = connection;
        this.from = from;
        this.to = to;
    }

    synchronized void freeze(boolean on) {
        frozen = on;
        notifyAll();
    }

    synchronized void delay(Duration perChunk) {
        delayNanos = perChunk.toNanos();
        notifyAll();
    }

    synchronized void throttle(int perSecond) {
        bytesPerSecond = perSecond;
        nextPieceNanos = System.nanoTime();
        notifyAll();
    }

    synchronized void cutAfter(long bytes) {
        bytesLeft = bytes;
    }

    /** Has both loops end. */
    synchronized void stop() {
        stopped = true;
        notifyAll();
    }

    /** Takes what the one side sends until it ends. */
    void read() {
        try {
            InputStream in = from.getInputStream();
            byte[] bytes = new byte[CHUNK];
            while (awaitRoom()) {
                int length = in.read(bytes);
                if (length < 0) {
                    add(ByteBuffer.allocate(0), false);
                    return;
                }
                add(ByteBuffer.allocate(length).put(bytes, 0, length).flip(), false);
            }
        } catch (IOException broken) {
            add(ByteBuffer.allocate(0), true);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Hands it to the other side, until there is no more or the other side takes no more. */
    void write() {
        try {
            OutputStream out = to.getOutputStream();
            Chunk chunk = awaitDue();
            while (chunk != null && chunk.bytes().hasRemaining()) {
                int length = pieceOf(chunk);
                out.write(chunk.bytes().array(), chunk.bytes().position(), length);
                if (taken(chunk, length)) {
                    connection.reset();
                }
                chunk = awaitDue();
            }
            if (chunk != null) {
                passOnEnd(chunk);
            }
        } catch (IOException broken) {
            // the pump that reads from this side learns of it too, and passes it on when its direction is not frozen
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            connection.directionEnded();
        }
    }

    private void passOnEnd(Chunk last) throws IOException {
        if (last.reset()) {
            connection.reset();
        } else {
            to.shutdownOutput();
        }
    }

    private synchronized boolean awaitRoom() throws InterruptedException {
        while (!stopped && (frozen || queuedBytes >= (delayNanos == 0 ? ROOM : ROOM_WITH_DELAY))) {
            wait();
        }
        return !stopped;
    }

    private synchronized void add(ByteBuffer bytes, boolean reset) {
        queue.add(new Chunk(bytes, System.nanoTime(), reset));
        queuedBytes += bytes.remaining();
        notifyAll();
    }

    /** The chunk whose turn it is, still in the queue; null once stopped. */
    private synchronized @Nullable Chunk awaitDue() throws InterruptedException {
        while (!stopped) {
            Chunk first = queue.peek();
            long waitNanos = first == null ? 0 : nanosUntilDue(first);
            if (first != null && !frozen && waitNanos <= 0) {
                return first;
            } else if (first == null || frozen) {
                wait();
            } else {
                TimeUnit.NANOSECONDS.timedWait(this, waitNanos);
            }
        }
        return null;
    }

    private long nanosUntilDue(Chunk chunk) {
        long now = System.nanoTime();
        long late = chunk.arrivedNanos() + delayNanos - now;
        return bytesPerSecond == 0 ? late : Math.max(late, nextPieceNanos - now);
    }

    /** How much of a chunk may go now; with nothing left to let through, nothing. */
    private synchronized int pieceOf(Chunk chunk) {
        int length = chunk.bytes().remaining();
        if (bytesPerSecond > 0) {
            length = Math.min(length, Math.max(1, bytesPerSecond / PIECES_PER_SECOND));
        }
        return bytesLeft < 0 ? length : (int) Math.min(length, bytesLeft);
    }

    /** Books a piece that was handed over; true if it was the last that may. */
    private synchronized boolean taken(Chunk chunk, int length) {
        chunk.bytes().position(chunk.bytes().position() + length);
        queuedBytes -= length;
        if (!chunk.bytes().hasRemaining()) {
            queue.remove();
        }
        if (bytesPerSecond > 0) {
            long pace = length * TimeUnit.SECONDS.toNanos(1) / bytesPerSecond;
            nextPieceNanos = Math.max(nextPieceNanos, System.nanoTime()) + pace;
        }
        notifyAll();
        if (bytesLeft < 0) {
            return false;
        }
        bytesLeft = Math.max(0, bytesLeft - length); // less were allowed while the piece was on its way
        return bytesLeft == 0;
    }
}
