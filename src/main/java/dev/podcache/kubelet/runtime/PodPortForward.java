package dev.podcache.kubelet.runtime;

import dev.podcache.object.PodKey;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/**
 * Connects to ports of pods, for {@code kubectl port-forward}. A {@link PodRuntime} that can do this implements this,
 * too.
 */
public interface PodPortForward {

    /**
     * Connects to a TCP port at {@code localhost} in the network of a pod. Returns when the connection is open, so it may
     * block, on a thread of the caller, which is interrupted when the client leaves. Each client has a connection of its
     * own. The caller closes it.
     *
     * @param port from 1 to 65535; the pod's spec need not declare it
     * @throws IOException if the pod does not run or nothing listens on the port; its message is shown to the user
     */
    PortConnection portForward(PodKey pod, int port) throws IOException;

    /**
     * A connection to a port. One thread reads, another one writes; both may block, so that the slower side slows down the
     * faster one. Closing it, by any thread, ends reads and writes that block; closing again has no effect.
     */
    interface PortConnection extends AutoCloseable {

        /** Returns the stream of what the port sends. Its end ends the forwarding. */
        InputStream input();

        /** Returns the stream to the port. */
        OutputStream output();

        @Override
        void close();
    }
}
