package dev.podcache.kubelet.runtime;

import io.fabric8.kubernetes.api.model.Pod;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Implemented by a {@link PodRuntime} whose volumes are directories of this machine. With it, a variable of a container may come
 * from a file that an init container has written ({@code fileKeyRef}); without it, such a container does not start.
 * Implementations must be thread-safe.
 *
 * <p>A {@link PodProvider} gets all variables before any container has run: a pod of it with such a variable waits, unless the
 * variable is optional.
 */
@FunctionalInterface
public interface LocalVolumes {

    /**
     * Returns the directory of a volume that was mounted. The agent reads files in it, and follows no link out of it. May
     * block.
     *
     * @param volume the name of an {@code emptyDir} in the pod's spec
     * @throws IOException if the volume has no directory; the status of the container shows the message
     */
    Path volume(Pod pod, String volume) throws IOException;

    /** Returns the volumes of a runtime; of one without this interface, they have no directories. */
    static LocalVolumes of(PodRuntime runtime) {
        return runtime instanceof LocalVolumes local
                ? local
                : (pod, volume) -> {
                    throw new IOException("the runtime " + runtime.type()
                            + " does not support fileKeyRef: its volumes are no directories of this machine");
                };
    }
}
