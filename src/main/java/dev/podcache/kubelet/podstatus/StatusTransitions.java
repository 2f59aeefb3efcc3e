package dev.podcache.kubelet.podstatus;

import static dev.podcache.kubelet.podstatus.PodParts.present;

import dev.podcache.pod.PodEnd;
import dev.podcache.pod.RestartRules;
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
        String back = comesBack(
                spec,
                present(spec.getContainers()),
                present(older.getContainerStatuses()),
                present(newer.getContainerStatuses()));
        if (back == null) {
            back = comesBack(
                    spec,
                    present(spec.getInitContainers()),
                    present(older.getInitContainerStatuses()),
                    present(newer.getInitContainerStatuses()));
        }
        return back == null
                ? null
                : "its container " + back + " has terminated and cannot come back under restart policy " + policy;
    }

    /** Returns the first container that has ended for good and no longer shows it; null if there is none. */
    private static @Nullable String comesBack(
            PodSpec spec, List<Container> containers, List<ContainerStatus> older, List<ContainerStatus> newer) {
        for (Container container : containers) {
            ContainerStatus before = PodParts.named(older, container.getName());
            ContainerStatus current = PodParts.named(newer, container.getName());
            if (before != null
                    && current != null
                    && PodParts.isTerminated(before)
                    && !PodParts.isTerminated(current)
                    && !RestartRules.shouldRestart(container, spec, PodParts.exitCode(PodParts.state(before)))) {
                return container.getName();
            }
        }
        return null;
    }
}
