package dev.podcache.kubelet.process;

import dev.podcache.kubelet.runtime.ContainerExec.ContainerProcess;
import dev.podcache.kubelet.runtime.ContainerLogs.LogOptions;
import dev.podcache.time.Timekeeper;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

/**
 * The output of a running container, from now on, line by line. The files have standard output and standard error
 * together, so all of it is standard output here. Thread-safe.
 */
public final class AttachedContainer implements ContainerProcess {

    private static final LogOptions NEW_LINES =
            new LogOptions(true, false, false, OptionalLong.of(0), Optional.empty());

    /** The end of a process that another JVM started may be seen earlier in the file system. */
    private static final Duration CHECK_PERIOD = Duration.ofSeconds(1);

    private final RunningContainer container;
    private final Timekeeper timekeeper;
    private final ContainerOutput output;
    private final CompletableFuture<Void> closed = new CompletableFuture<>();

    /** Attaches to a container. Reads the files that there are. */
    public AttachedContainer(RunningContainer container, Timekeeper timekeeper) throws IOException {
        this.container = container;
        this.timekeeper = timekeeper;
        this.output = new ContainerOutput(container.instance(), NEW_LINES, timekeeper);
    }

    @Override
    public OutputStream stdin() {
        throw new UnsupportedOperationException("the container has no standard input");
    }

    @Override
    public InputStream stdout() {
        return output;
    }

    @Override
    public InputStream stderr() {
        return InputStream.nullInputStream();
    }

    /** Waits until the container has ended or this is closed. Returns 0. */
    @Override
    public int await() throws InterruptedException {
        CompletableFuture<?> end = CompletableFuture.anyOf(container.ended(), closed);
        try {
            while (!timekeeper.await(end, CHECK_PERIOD) && container.instance().isRunning()) {
                // goes on
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return 0;
    }

    @Override
    public void close() {
        closed.complete(null);
        try {
            output.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
