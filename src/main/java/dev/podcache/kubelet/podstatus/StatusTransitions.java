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

/** Which statuses may follow which: what has ended does not come back. Pure. */
final class StatusTransitions {

    // After checkContainerStateTransition of pkg/kubelet/status/status_manager.go of Kubernetes. That a phase
    // does not come back is checked there where statuses are made; here, so that no caller can get around it.

    private StatusTransitions() {}

    /** Why {@code newer} must not follow {@code older}, or null if it may. */
    static @Nullable String refusal(PodSpec spec, PodStatus older, PodStatus newer) {
        if (PodEnd.isTerminal(older.getPhase()) && !PodEnd.isTerminal(newer.getPhase())) {
            return "its phase is " + older.getPhase() + " and cannot become " + newer.getPhase();
        }
        String policy = spec.getRestartPolicy();
        if (!"OnFailure".equals(policy) && !"Never".equals(policy)) {
            return null;
        }
        boolean retries = policy.equals("OnFailure");
        ImmutableSet<String> sidecars = present(spec.getInitContainers()).stream()
                .filter(PodParts::isSidecar)
                .map(Container::getName)
                .collect(ImmutableSet.toImmutableSet());
        List<ContainerStatus> after = PodParts.containers(newer);
        for (ContainerStatus before : PodParts.containers(older)) {
            @Nullable ContainerStatus now = PodParts.named(after, before.getName());
            boolean ended = PodParts.isTerminated(before)
                    && !sidecars.contains(before.getName())
                    && (!retries || PodParts.endedWell(before.getState()));
            if (ended && now != null && !PodParts.isTerminated(now)) {
                return "its container " + before.getName()
                        + " has terminated and cannot come back under restart policy " + policy;
            }
        }
        return null;
    }
}
