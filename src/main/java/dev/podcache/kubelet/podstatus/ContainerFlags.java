package dev.podcache.kubelet.podstatus;

import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Sets the readiness or startup of one container, as probed, in a pod's status. */
final class ContainerFlags {

    // Follows SetContainerReadiness and SetContainerStartup of pkg/kubelet/status/status_manager.go of Kubernetes.

    private ContainerFlags() {}

    /** Returns a copy of {@code status} with this readiness; null if it is unchanged or the container is unknown. */
    static @Nullable PodStatus ready(PodSpec spec, PodStatus status, String containerId, boolean ready) {
        PodStatus copy = PodParts.copy(status);
        @Nullable ContainerStatus container = withId(copy, containerId);
        if (container == null || Boolean.TRUE.equals(container.getReady()) == ready) {
            return null;
        }
        container.setReady(ready);
        List<PodCondition> conditions = new ArrayList<>(PodParts.present(copy.getConditions()));
        PodCondition containersReady = PodConditions.containersReady(spec, PodParts.containers(copy), copy.getPhase());
        PodConditions.put(conditions, PodConditions.ready(spec, containersReady, conditions));
        PodConditions.put(conditions, containersReady);
        copy.setConditions(conditions);
        return copy;
    }

    /**
     * Returns a copy of {@code status} with this startup; null if it is unchanged or the container is unknown. Setting
     * false where the field was absent is a change.
     */
    static @Nullable PodStatus started(PodStatus status, String containerId, boolean started) {
        PodStatus copy = PodParts.copy(status);
        @Nullable ContainerStatus container = withId(copy, containerId);
        if (container == null || Boolean.valueOf(started).equals(container.getStarted())) {
            return null;
        }
        container.setStarted(started);
        return copy;
    }

    private static @Nullable ContainerStatus withId(PodStatus status, String containerId) {
        return PodParts.containers(status).stream()
                .filter(container -> containerId.equals(container.getContainerID()))
                .findFirst()
                .orElse(null);
    }
}
