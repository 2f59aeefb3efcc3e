package dev.podcache.kubelet.process;

import java.io.IOException;
import java.io.OutputStream;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The standard input of a command. A write waits until the command reads, or whoever inherited its input, which may be for
 * ever. To close it waits for nobody: a write that waits closes it when it ends. Thread-safe.
 */
final class ExecInput extends OutputStream {

    private final OutputStream pipe;
    private final ReentrantLock writing = new ReentrantLock();
    private volatile boolean closed;

    ExecInput(OutputStream pipe) {
        this.pipe = pipe;
    }

    /** A call on the pipe. */
    @FunctionalInterface
    private interface PipeCall {
        void to(OutputStream pipe) throws IOException;
    }

    @Override
    public void write(int value) throws IOException {
        locked(out -> out.write(value));
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        locked(out -> out.write(bytes, offset, length));
    }

    @Override
    public void flush() throws IOException {
        locked(OutputStream::flush);
    }

    private void locked(PipeCall write) throws IOException {
        writing.lock();
        try {
            if (closed) {
                throw new IOException("the standard input of the command is closed");
            }
            write.to(pipe);
        } finally {
            writing.unlock();
            // after the lock is free: a close that did not get it has said so before
            if (closed) {
                close();
            }
        }
    }

    @Override
    public void close() throws IOException {
        closed = true;
        if (writing.tryLock()) {
            try {
                pipe.close();
            } finally {
                writing.unlock();
            }
        }
    }
}
