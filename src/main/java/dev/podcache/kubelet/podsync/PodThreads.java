package dev.podcache.kubelet.podsync;

import java.util.concurrent.ExecutorService;

/**
 * Where pods are seen to, which may block. Two, because the one must be few and the other must not: pods that all begin
 * at once would outrun the watches of what they refer to, and each pod that is stopped takes as long as its grace
 * period, in which others want to start.
 *
 * @param syncing for pods that are to run: as many are seen to at once as it has threads, each for the read timeout of
 *     the managers at most, and as long as the runtime takes to mount and start
 * @param ending for pods that are to be stopped: it should take on any number
 */
public record PodThreads(ExecutorService syncing, ExecutorService ending) {

    /** Takes no turn from now on, and waits for none that runs. Idempotent. */
    public void shutdown() {
        syncing.shutdown();
        ending.shutdown();
    }
}
