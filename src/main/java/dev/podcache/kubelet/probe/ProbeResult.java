package dev.podcache.kubelet.probe;

/** The result of a container's probe after its thresholds. */
enum ProbeResult {
    SUCCESS,
    FAILURE,
    /** No result yet: a startup probe that has reached neither threshold. */
    UNKNOWN
}
