package dev.podcache.kubelet.process;

import com.google.common.collect.Comparators;
import dev.podcache.time.Timekeeper;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

/**
 * What a command writes to one of its outputs until it ends. Never waits for processes that the command left behind, which
 * may hold the pipe. Read by one thread; may be closed by another.
 */
final class ExecOutput extends InputStream {

    /* A thread that waits in the read of a pipe cannot be interrupted, so this reads only what the pipe has. */

    private static final Duration FIRST_PAUSE = Duration.ofNanos(100_000);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(20);

    private final InputStream pipe;
    private final Process command;
    private final CompletableFuture<?> ended;
    private final Timekeeper timekeeper;

    /**
     * Creates the stream of a pipe.
     *
     * @param ended completes when the command has ended
     */
    ExecOutput(InputStream pipe, Process command, CompletableFuture<?> ended, Timekeeper timekeeper) {
        this.pipe = pipe;
        this.command = command;
        this.ended = ended;
        this.timekeeper = timekeeper;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] buffer, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, buffer.length);
        if (length == 0) {
            return 0;
        }
        for (Duration pause = FIRST_PAUSE; ; pause = Comparators.min(pause.multipliedBy(2), LONGEST_PAUSE)) {
            boolean last = !command.isAlive();
            // the JVM holds this monitor while it empties the pipe of a process that has ended
            synchronized (pipe) {
                int available = pipe.available();
                if (available > 0) {
                    return pipe.read(buffer, offset, Math.min(length, available));
                }
            }
            if (last) {
                return -1;
            }
            pause(pause);
        }
    }

    private void pause(Duration pause) throws IOException {
        try {
            timekeeper.await(ended, pause);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for output");
        }
    }

    /** Closes the pipe. A thread that reads fails after its pause. */
    @Override
    public void close() throws IOException {
        pipe.close();
    }
}
