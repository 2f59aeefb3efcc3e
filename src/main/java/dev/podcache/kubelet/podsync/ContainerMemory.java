package dev.podcache.kubelet.podsync;

import dev.podcache.kubelet.runtime.Launch;
import dev.podcache.kubelet.runtime.PodState;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * What the agent knows of the containers of one pod that their runtime does not show: the hash of the spec that each was
 * started from, which instances are to be started again although they may exit with 0, and which init containers must run
 * again because the runtime has lost the pod. Not thread-safe.
 */
final class ContainerMemory {

    private final Map<String, String> hashes = new HashMap<>();

    /** The container IDs by container; an ID may be "". */
    private final Map<String, String> toRestart = new HashMap<>();

    /** Running containers that must be restarted whatever their hash is. */
    private final Set<String> mustRestart = new HashSet<>();

    private Set<String> toRunAgain = Set.of();
    private boolean lostContainers;

    /** Remembers a container that was started. */
    void started(String container, String hash) {
        hashes.put(container, hash);
        toRestart.remove(container);
        mustRestart.remove(container);
    }

    /** Has a running container restarted, because its new resources demand that. */
    void mustRestart(String container) {
        mustRestart.add(container);
    }

    /**
     * Returns whether the spec of a running container is not the one that it was started from, so that it must be restarted. Where neither the runtime nor
     * this agent knows that one, it is the spec with which this is asked first: nothing says that it was another.
     */
    boolean hasChanged(Container container, PodState current) {
        if (mustRestart.contains(container.getName())) {
            return true;
        }
        String now = Launch.hashOf(container.getName(), container.getImage());
        String shown = current.containerHashes().getOrDefault(container.getName(), "");
        if (!shown.isEmpty()) {
            return !shown.equals(now);
        }
        hashes.putIfAbsent(container.getName(), now);
        return !now.equals(hashes.get(container.getName()));
    }

    /** Remembers an instance that is to be started again once it has ended, whatever its exit code is. */
    void restarts(String container, String containerId) {
        toRestart.put(container, containerId);
    }

    /** Returns whether an instance that ended is to be started again, whatever its exit code is. */
    boolean isToRestart(ContainerStatus ended) {
        return States.id(ended).equals(toRestart.get(ended.getName()));
    }

    /**
     * Sets what the runtime has lost.
     *
     * @param regular whether it shows none of the regular containers
     * @param init the init containers that have succeeded but must run again
     */
    void lost(boolean regular, Set<String> init) {
        lostContainers = regular;
        toRunAgain = Set.copyOf(init);
    }

    /** Returns whether the runtime shows none of the regular containers that have run. */
    boolean hasLostContainers() {
        return lostContainers;
    }

    /** Returns whether an init container must run again although it has succeeded. */
    boolean isToRunAgain(String initContainer) {
        return toRunAgain.contains(initContainer);
    }
}
