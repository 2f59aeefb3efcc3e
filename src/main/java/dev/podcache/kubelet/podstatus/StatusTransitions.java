package dev.podcache.kubelet.podstatus;

import static dev.podcache.kubelet.podstatus.PodParts.present;

import com.google.common.collect.ImmutableSet;
import dev.podcache.pod.PodEnd;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Checks that a new status does not restart a pod or container that has ended. Pure functions. */
final class StatusTransitions {

    // Follows checkContainerStateTransition of pkg/kubelet/status/status_manager.go of Kubernetes. Upstream checks the
    // phase where it computes a status; here every status is checked, so that no caller can bypass it.

    private StatusTransitions() {}

    /** Returns why {@code newer} must not follow {@code older}, or null if it may. */
    static @Nullable String refusal(PodSpec spec, PodStatus older, PodStatus newer) {
        if (PodEnd.isTerminal(older.getPhase()) && !PodEnd.isTerminal(newer.getPhase())) {
            return "its phase is " + older.getPhase() + " and cannot become " + newer.getPhase();
        }
        String policy = spec.getRestartPolicy();
        if (!"OnFailure".equals(policy) && !"Never".equals(policy)) {
            return null;
        }
        boolean restartsAfterFailure = policy.equals("OnFailure");
        ImmutableSet<String> sidecars = present(spec.getInitContainers()).stream()
                .filter(PodParts::isSidecar)
                .map(Container::getName)
                .collect(ImmutableSet.toImmutableSet());
        List<ContainerStatus> after = PodParts.containers(newer);
        for (ContainerStatus before : PodParts.containers(older)) {
            @Nullable ContainerStatus current = PodParts.named(after, before.getName());
            boolean ended = PodParts.isTerminated(before)
                    && !sidecars.contains(before.getName())
                    && (!restartsAfterFailure || PodParts.isSuccess(before.getState()));
            if (ended && current != null && !PodParts.isTerminated(current)) {
                return "its container " + before.getName()
                        + " has terminated and cannot come back under restart policy " + policy;
            }
        }
        return null;
    }
}
