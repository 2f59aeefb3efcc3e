package dev.podcache.kubelet.nodestatus;

import java.util.Optional;

/**
 * The status of a container runtime, as it reports it.
 *
 * @param runtimeProblem why it cannot run containers; empty if it can
 * @param networkProblem why it cannot connect pods to the network; empty if it can
 */
public record RuntimeStatus(Optional<String> runtimeProblem, Optional<String> networkProblem) {

    /** The status without a problem. */
    public static final RuntimeStatus READY = new RuntimeStatus(Optional.empty(), Optional.empty());
}
