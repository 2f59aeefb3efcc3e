package dev.podcache.kubelet.runtime;

import java.io.IOException;

/**
 * Frees disk space that no pod needs, before a pod is evicted for it. A {@link PodRuntime} that can do this implements
 * this, too. Both methods may block, and may be called while other calls of the runtime run; one call at a time is made
 * of each. After 30 s of a call, the agent goes on without it.
 */
public interface DiskReclaim {

    /**
     * Deletes containers that have ended and the files that they leave behind. The last instance of each container keeps
     * its state and its logs.
     */
    void deleteUnusedContainers() throws IOException, InterruptedException;

    /** Deletes images that no container uses. */
    void deleteUnusedImages() throws IOException, InterruptedException;
}
