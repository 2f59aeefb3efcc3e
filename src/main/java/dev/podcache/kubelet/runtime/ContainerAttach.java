package dev.podcache.kubelet.runtime;

import dev.podcache.kubelet.runtime.ContainerExec.ContainerProcess;
import dev.podcache.object.PodKey;
import java.io.IOException;

/**
 * Connects to the streams of running containers, for {@code kubectl attach}. A {@link PodRuntime} that can do this
 * implements this, too.
 */
public interface ContainerAttach {

    /**
     * Connects to the standard streams of a running container, from now on: what it wrote before is left out. Several
     * clients may be attached to one container. May block, on a thread of the caller, which is interrupted when the client
     * leaves.
     *
     * <p>The result has the streams of the container's own process. {@link ContainerProcess#stdout} and {@link
     * ContainerProcess#stderr} end when the container has ended; the caller reads both. {@link ContainerProcess#await}
     * returns then, and its number is not used. The caller closes the result, at the latest when the client leaves. That
     * ends reads, writes and waits that block, and the container goes on.
     *
     * @param stdin whether the client writes to the container's standard input; otherwise {@link
     *     ContainerProcess#stdin} is not called. Closing that stream ends the client's input; whether it also ends the
     *     container's is a matter of {@code stdinOnce}
     * @throws IOException if the container does not run, or has no standard input although {@code stdin} asks for it; its
     *     message is shown to the user
     */
    ContainerProcess attach(PodKey pod, String container, boolean stdin) throws IOException;
}
