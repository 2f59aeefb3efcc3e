package dev.podcache.kubelet.process;

import dev.podcache.kubelet.runtime.ContainerLogs.LogOptions;
import dev.podcache.time.Timekeeper;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * The output of one instance of a container, as {@link dev.podcache.kubelet.runtime.ContainerLogs} defines it. Read by
 * one thread; may be closed by another. A follower looks for new lines ten times a second.
 */
public final class ContainerOutput extends InputStream {

    private static final Duration PAUSE = Duration.ofMillis(100);

    private final ContainerInstance container;
    private final LogOptions options;
    private final Timekeeper timekeeper;
    private final OutputFiles files; // guarded by itself, so that it is not closed while it is read
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private long skipped;
    private boolean shows; // the line of the last piece
    private byte[] line = new byte[0];
    private int position;

    public ContainerOutput(ContainerInstance container, LogOptions options, Timekeeper timekeeper) throws IOException {
        this.container = container;
        this.options = options;
        this.timekeeper = timekeeper;
        this.files = new OutputFiles(container.directory());
        this.skipped = options.tailLines().isEmpty()
                ? 0
                : count() - options.tailLines().getAsLong();
    }

    /** Returns the number of lines that there are, without those before the requested time. */
    private long count() throws IOException {
        long count = 0;
        try (OutputFiles counted = new OutputFiles(container.directory())) {
            for (Optional<OutputLine> next = counted.next(); next.isPresent(); next = counted.next()) {
                count += next.get().first() && isRecent(next.get()) ? 1 : 0;
            }
        }
        return count;
    }

    private boolean isRecent(OutputLine next) {
        return options.since().isEmpty()
                || !next.time().isBefore(options.since().get());
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
        if (position == line.length && !nextLine()) {
            return -1;
        }
        int count = Math.min(length, line.length - position);
        System.arraycopy(line, position, buffer, offset, count);
        position += count;
        return count;
    }

    /** Goes on to the next piece of a line that is to be shown. Returns false at the end. */
    private boolean nextLine() throws IOException {
        boolean ended = !options.follow();
        while (!closed.isDone()) {
            Optional<OutputLine> next = nextInFiles();
            if (next.isPresent()) {
                if (next.get().first()) {
                    shows = isRecent(next.get()) && skipped-- <= 0;
                }
                if (shows) {
                    line = next.get().shown(options.timestamps());
                    position = 0;
                    return true;
                }
            } else if (ended) {
                return false;
            } else if (container.isRunning()) {
                pause();
            } else {
                // what the container wrote before its end is in the files now
                ended = true;
            }
        }
        return false;
    }

    private Optional<OutputLine> nextInFiles() throws IOException {
        synchronized (files) {
            return closed.isDone() ? Optional.empty() : files.next();
        }
    }

    private void pause() throws IOException {
        try {
            timekeeper.await(closed, PAUSE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for output");
        }
    }

    /** Ends a read that waits for output. Idempotent. */
    @Override
    public void close() throws IOException {
        closed.complete(null);
        synchronized (files) {
            files.close();
        }
    }
}
