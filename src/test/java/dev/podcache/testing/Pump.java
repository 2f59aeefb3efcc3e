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
 * One direction of a connection of {@link TcpProxy}: forwards bytes when the network conditions allow. Thread-safe.
 * {@link #read} and {@link #write} block, each on its own thread.
 */
final class Pump {

    // Chunks wait in a queue with the time at which they were read, so that a delayed chunk does not delay those behind
    // it: up to ROOM_WITH_DELAY bytes in transit, latency does not reduce throughput. Without a delay, the queue is
    // short, so that a receiver that does not read slows the sender down. Threads wait on this monitor only; every
    // change of a condition notifies them.

    private static final int CHUNK = 16 * 1024;
    private static final int ROOM = 4 * CHUNK;
    private static final int ROOM_WITH_DELAY = 8 * 1024 * 1024;
    private static final int PIECES_PER_SECOND = 20;

    /** Bytes with the time at which they were read. A chunk without bytes is the end or the reset of the sender. */
    private record Chunk(ByteBuffer bytes, long arrivedNanos, boolean reset) {}

    private final ProxiedConnection connection;
    private final Socket from;
    private final Socket to;
    private final Deque<Chunk> queue = new ArrayDeque<>(); // guarded by this, like all fields below
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

    /** Ends both loops. */
    synchronized void stop() {
        stopped = true;
        notifyAll();
    }

    /** Reads from one side until it ends. */
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

    /** Writes to the other side until there are no more bytes or the other side fails. */
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
            // the pump that reads from this side sees the error, too, and passes it on unless its direction is frozen
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

    /** Waits for the next chunk, which stays in the queue. Returns null after {@link #stop}. */
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

    /**
     * Returns the number of bytes of a chunk that may be written now; 0 if the limit of {@link #cutAfter} is reached.
     */
    private synchronized int pieceOf(Chunk chunk) {
        int length = chunk.bytes().remaining();
        if (bytesPerSecond > 0) {
            length = Math.min(length, Math.max(1, bytesPerSecond / PIECES_PER_SECOND));
        }
        return bytesLeft < 0 ? length : (int) Math.min(length, bytesLeft);
    }

    /** Records a written piece. Returns whether it was the last one before the cut. */
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
        bytesLeft = Math.max(0, bytesLeft - length); // the limit may have been lowered during the write
        return bytesLeft == 0;
    }
}
