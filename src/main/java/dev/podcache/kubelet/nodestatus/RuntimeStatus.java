package dev.podcache.kubelet.nodestatus;

import java.util.Optional;

/**
 * What a container runtime says of itself.
 *
 * @param runtimeProblem why it cannot run containers; empty if it can
 * @param networkProblem why it cannot connect pods; empty if it can
 */
public record RuntimeStatus(Optional<String> runtimeProblem, Optional<String> networkProblem) {

    /** Nothing is wrong. */
    public static final RuntimeStatus READY = new RuntimeStatus(Optional.empty(), Optional.empty());
}
