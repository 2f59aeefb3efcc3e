package dev.podcache.kubelet.eviction;

/** Measures a node and its pods. */
@FunctionalInterface
interface NodeUsage {

    /**
     * Measures now. May block, for a limited time. What cannot be measured is missing in the result.
     *
     * @throws InterruptedException if the thread is interrupted
     */
    Measurement measure() throws InterruptedException;
}
