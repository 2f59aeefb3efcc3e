package dev.podcache.kubelet.eviction;

/** What is known of the usage of pods. */
enum PodFigures {
    /** Nothing, so no pod is evicted. */
    NONE,
    /** The figures of an earlier measurement: enough to choose a pod, but not to say what the node has left. */
    OLD,
    /** Those of this measurement. */
    NEW
}
