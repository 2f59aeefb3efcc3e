package dev.podcache.kubelet.runtime;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.OptionalLong;

/**
 * Implemented by a {@link PodRuntime} that gives pods isolation, devices, or surroundings of their own, that they can ask
 * for. What a runtime does not declare here, it does not give, and a pod or container that asks for it is refused. No method may block.
 */
public interface PodIsolation {

    /** Declares nothing. */
    PodIsolation NONE = new PodIsolation() {};

    /** Returns what a runtime declares; {@link #NONE} if it does not implement this interface. */
    static PodIsolation of(PodRuntime runtime) {
        return runtime instanceof PodIsolation isolation ? isolation : NONE;
    }

    /** Returns whether pods with {@code hostUsers: false} get a user namespace of their own. Constant. */
    default boolean userNamespaces() {
        return false;
    }

    /** Returns whether {@code supplementalGroupsPolicy: Strict} is obeyed. Constant. */
    default boolean strictSupplementalGroups() {
        return false;
    }

    /** Returns whether mounts with {@code recursiveReadOnly: Enabled} are read-only with all that is mounted below. Constant. */
    default boolean recursiveReadOnly() {
        return false;
    }

    /** Returns whether the {@code hostAliases} of a pod are in the hosts file of its containers. Constant. */
    default boolean hostAliases() {
        return false;
    }

    /** Returns whether the {@code dnsConfig} of a pod is what its containers resolve names with. Constant. */
    default boolean dnsConfig() {
        return false;
    }

    /**
     * Returns whether pods with this {@code runtimeClassName} run as the handler of the RuntimeClass says. Constant for each
     * name.
     *
     * @param name not empty
     */
    default boolean runtimeClass(String name) {
        return false;
    }

    /** Returns whether containers get the devices that the {@code resourceClaims} of their pod have allocated. Constant. */
    default boolean resourceClaims() {
        return false;
    }

    /**
     * Returns whether a container whose {@code lifecycle} names a {@code stopSignal} is asked to end with that signal.
     * Constant for each signal.
     *
     * @param signal such as {@code SIGUSR1}
     */
    default boolean stopSignal(String signal) {
        return false;
    }

    /**
     * Returns the numeric user that a container will run as, to check {@code runAsNonRoot}: that of its image if the spec names
     * none, or the one that every container of the runtime has. By default, it is not known, and only {@code runAsUser} is
     * checked.
     */
    default OptionalLong user(Pod pod, Container container) {
        return OptionalLong.empty();
    }
}
