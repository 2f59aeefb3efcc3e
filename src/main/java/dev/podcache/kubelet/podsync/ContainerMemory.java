package dev.podcache.kubelet.podsync;

import io.fabric8.kubernetes.api.model.ContainerStatus;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the agent knows of the containers of one pod that their runtime does not show: the image that each was started
 * with, and which instances are to be started again although they may exit with 0. Not thread-safe.
 */
final class ContainerMemory {

    private final Map<String, String> images = new HashMap<>();

    /** The container IDs by container; an ID may be "". */
    private final Map<String, String> toRestart = new HashMap<>();

    /** Remembers a container that was started. */
    void started(String container, String image) {
        images.put(container, image);
        toRestart.remove(container);
    }

    /** Returns the image that a container was started with; if that is not known, the image in its status. */
    @Nullable
    String image(ContainerStatus status) {
        return images.getOrDefault(status.getName(), status.getImage());
    }

    /** Remembers an instance that is to be started again once it has ended, whatever its exit code is. */
    void restarts(String container, String containerId) {
        toRestart.put(container, containerId);
    }

    /** Returns whether an instance that ended is to be started again, whatever its exit code is. */
    boolean isToRestart(ContainerStatus ended) {
        return States.id(ended).equals(toRestart.get(ended.getName()));
    }
}
