package dev.podcache.kubelet.runtime;

import dev.podcache.object.PodKey;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;

/**
 * Runs commands in containers, for exec probes, lifecycle hooks and {@code kubectl exec}. A {@link PodRuntime} that can do
 * this implements this, too.
 */
public interface ContainerExec {

    /**
     * Starts a command in a running container.
     *
     * @param command the program and its arguments
     * @param tty whether the command runs in a terminal; then {@link ContainerProcess#stderr} is empty
     * @throws IOException if the container does not run or the command cannot be started
     */
    ContainerProcess exec(PodKey pod, String container, List<String> command, boolean tty) throws IOException;

    /**
     * A running command, which ends with its container at the latest. Closing it kills the command and closes its streams;
     * closing again has no effect. The outputs end
     * when the command ends, also if a process that it left behind keeps them open: such a process lives until the container
     * ends. Thread-safe. The process of {@link ContainerAttach} differs: see there.
     */
    interface ContainerProcess extends AutoCloseable {

        /** Returns the stream to the command's standard input. The caller closes it at the end of the input. */
        OutputStream stdin();

        /** Returns the stream of the command's standard output. */
        InputStream stdout();

        /** Returns the stream of the command's standard error. */
        InputStream stderr();

        /** Waits for the end of the command and returns its exit code. */
        int await() throws InterruptedException;

        /** Changes the size of the terminal. Has no effect without a terminal. */
        default void resize(int columns, int rows) {}

        @Override
        void close();
    }
}
