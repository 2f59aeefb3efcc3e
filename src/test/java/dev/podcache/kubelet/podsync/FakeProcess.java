package dev.podcache.kubelet.podsync;

import dev.podcache.kubelet.runtime.ContainerExec.ContainerProcess;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;

/** A command in a container, whose output and exit code a test sets. */
final class FakeProcess implements ContainerProcess {

    private final InputStream stdout;
    private final InputStream stderr;
    private final int exitCode;
    private final CountDownLatch end;

    /** Opens when the exit code is awaited. */
    final CountDownLatch awaited = new CountDownLatch(1);

    /** Opens when the command is closed. */
    final CountDownLatch closed = new CountDownLatch(1);

    /** Makes a command that ends at once. */
    FakeProcess(String output, int exitCode) {
        this(output, "", exitCode);
    }

    FakeProcess(String output, String errors, int exitCode) {
        this(output, errors, exitCode, new CountDownLatch(0));
    }

    private FakeProcess(String output, String errors, int exitCode, CountDownLatch end) {
        this.stdout = new ByteArrayInputStream(output.getBytes(StandardCharsets.UTF_8));
        this.stderr = new ByteArrayInputStream(errors.getBytes(StandardCharsets.UTF_8));
        this.exitCode = exitCode;
        this.end = end;
    }

    /** Makes a command that ends when {@code end} opens. */
    static FakeProcess until(CountDownLatch end) {
        return new FakeProcess("", "", 0, end);
    }

    @Override
    public OutputStream stdin() {
        return OutputStream.nullOutputStream();
    }

    @Override
    public InputStream stdout() {
        return stdout;
    }

    @Override
    public InputStream stderr() {
        return stderr;
    }

    @Override
    public int await() throws InterruptedException {
        awaited.countDown();
        end.await();
        return exitCode;
    }

    @Override
    public void close() {
        closed.countDown();
    }
}
