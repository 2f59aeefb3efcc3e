package dev.podcache.kubelet.server;

import dev.podcache.kubelet.runtime.PodPortForward.PortConnection;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.UncheckedIOException;
import java.util.concurrent.CompletableFuture;

/** A port that sends back what it gets. */
final class FakePort implements PortConnection {

    final CompletableFuture<Object> closed = new CompletableFuture<>();

    private final PipedInputStream input = new PipedInputStream();
    private final OutputStream output;

    FakePort() {
        try {
            output = new PipedOutputStream(input);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public InputStream input() {
        return input;
    }

    @Override
    public OutputStream output() {
        return output;
    }

    @Override
    public void close() {
        closed.complete(this);
        try {
            output.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
