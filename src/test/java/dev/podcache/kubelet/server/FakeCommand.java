package dev.podcache.kubelet.server;

import dev.podcache.kubelet.runtime.ContainerExec.ContainerProcess;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.UncheckedIOException;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;

/** A command that returns its input as its output, and ends with code 3 at the end of the input. */
class FakeCommand implements ContainerProcess {

    final CompletableFuture<Integer> exit = new CompletableFuture<>();
    final CompletableFuture<Object> killed = new CompletableFuture<>();
    final Queue<String> sizes = new ConcurrentLinkedQueue<>();

    private final PipedInputStream output = new PipedInputStream();
    private final OutputStream input;

    FakeCommand() {
        try {
            input = new PipedOutputStream(output) {
                @Override
                public void close() throws IOException {
                    super.close();
                    exit.complete(3);
                }
            };
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public OutputStream stdin() {
        return input;
    }

    @Override
    public InputStream stdout() {
        return output;
    }

    @Override
    public InputStream stderr() {
        return ServedRuntime.text("warned\n");
    }

    @Override
    public int await() throws InterruptedException {
        try {
            return exit.get();
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void resize(int columns, int rows) {
        sizes.add(columns + "x" + rows);
    }

    @Override
    public void close() {
        killed.complete(this);
        exit.complete(137);
        try {
            input.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
