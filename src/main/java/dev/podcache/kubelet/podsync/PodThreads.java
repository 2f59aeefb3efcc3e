package dev.podcache.kubelet.podsync;

import java.util.concurrent.ExecutorService;

/**
 * The threads that sync pods. Syncs may block.
 *
 * <p>Pods that start and pods that stop have separate threads. Few threads start pods: if all pods of a node started at
 * once, they would read objects faster than the watches of these objects can be opened. Any number of threads stop
 * pods: each stop takes up to the pod's grace period, and must not keep other pods from starting.
 *
 * @param syncing syncs pods that should run. The number of its threads limits the pods that are synced at a time. A
 *     sync takes at most the managers' read timeout, plus the runtime's time to mount and start
 * @param ending stops pods; should not limit the number of threads
 */
public record PodThreads(ExecutorService syncing, ExecutorService ending) {

    /** Shuts down both executors. Does not wait for running syncs. Idempotent. */
    public void shutdown() {
        syncing.shutdown();
        ending.shutdown();
    }
}
