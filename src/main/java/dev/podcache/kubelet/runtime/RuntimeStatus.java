package dev.podcache.kubelet.runtime;

import java.util.Objects;
import java.util.Optional;

/**
 * The state of a container runtime. Immutable.
 *
 * @param version the version of the runtime, such as {@code 1.7.2}, for the Node's status
 * @param problem why no container can be started now; empty if the runtime is ready
 * @param networkProblem why pods have no network; empty if they have one
 */
public record RuntimeStatus(String version, Optional<String> problem, Optional<String> networkProblem) {

    /** Creates a status. No parameter may be null. */
    public RuntimeStatus {
        Objects.requireNonNull(version, "version");
        Objects.requireNonNull(problem, "problem");
        Objects.requireNonNull(networkProblem, "networkProblem");
    }

    /** Returns the status of a runtime that can start containers. */
    public static RuntimeStatus ready(String version) {
        return new RuntimeStatus(version, Optional.empty(), Optional.empty());
    }

    /** Returns the status of a runtime that cannot start containers, for this reason. */
    public static RuntimeStatus notReady(String version, String problem) {
        return new RuntimeStatus(version, Optional.of(problem), Optional.empty());
    }
}
