package dev.podcache.kubelet.podstatus;

import com.google.common.collect.ImmutableList;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a probe says of one container, written into a status. */
final class ContainerFlags {

    // After SetContainerReadiness and SetContainerStartup of pkg/kubelet/status/status_manager.go of Kubernetes.

    private ContainerFlags() {}

    /** {@code status} with that readiness, or null if that is no news or no container has the id. */
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

    /** The same of its start; that it has not started is news if nothing was said before. */
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
        ImmutableList<ContainerStatus> all = PodParts.containers(status);
        return all.stream()
                .filter(container -> containerId.equals(container.getContainerID()))
                .findFirst()
                .orElse(null);
    }
}
