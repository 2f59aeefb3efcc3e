package dev.podcache.kubelet.podstatus;

import static dev.podcache.kubelet.podstatus.PodParts.present;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.podcache.time.ApiTime;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateTerminated;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Gives a status the form in which statuses are compared and sent: whole seconds, an order, bounded messages. */
final class PodStatusNormalizer {

    // After normalizeStatus of pkg/kubelet/status/status_manager.go of Kubernetes, except that a message is cut
    // between two characters, never inside one.

    /** What all termination messages of a pod may have together, in bytes. */
    static final int LARGEST_MESSAGES = 12288;

    private PodStatusNormalizer() {}

    /** A normalised copy. */
    static PodStatus normalised(Pod pod, PodStatus status) {
        PodStatus copy = PodParts.copy(status);
        PodSpec spec = pod.getSpec();
        copy.setStartTime(ApiTime.truncated(copy.getStartTime()));
        for (PodCondition condition : present(copy.getConditions())) {
            condition.setLastProbeTime(ApiTime.truncated(condition.getLastProbeTime()));
            condition.setLastTransitionTime(ApiTime.truncated(condition.getLastTransitionTime()));
        }
        int containers =
                size(spec.getContainers()) + size(spec.getInitContainers()) + size(spec.getEphemeralContainers());
        int limit = containers == 0 ? LARGEST_MESSAGES : LARGEST_MESSAGES / containers;
        Comparator<ContainerStatus> byName = Comparator.comparing(ContainerStatus::getName);
        List<String> initNames = present(spec.getInitContainers()).stream()
                .map(Container::getName)
                .toList();
        copy.setContainerStatuses(normalised(copy.getContainerStatuses(), byName, limit));
        copy.setInitContainerStatuses(normalised(
                copy.getInitContainerStatuses(),
                Comparator.comparingInt(init -> initNames.indexOf(init.getName())),
                limit));
        copy.setEphemeralContainerStatuses(normalised(copy.getEphemeralContainerStatuses(), byName, limit));
        return copy;
    }

    private static int size(@Nullable List<?> list) {
        return list == null ? 0 : list.size();
    }

    private static List<ContainerStatus> normalised(
            @Nullable List<ContainerStatus> statuses, Comparator<ContainerStatus> order, int limit) {
        List<ContainerStatus> sorted = new ArrayList<>(present(statuses));
        sorted.sort(order);
        for (ContainerStatus status : sorted) {
            // the API server writes these where we leave them out
            status.setReady(Boolean.TRUE.equals(status.getReady()));
            status.setRestartCount(status.getRestartCount() == null ? 0 : status.getRestartCount());
            normalise(status.getState(), limit);
            normalise(status.getLastState(), limit);
        }
        return sorted;
    }

    private static void normalise(@Nullable ContainerState state, int limit) {
        if (state == null) {
            return;
        }
        if (state.getRunning() != null) {
            state.getRunning().setStartedAt(ApiTime.truncated(state.getRunning().getStartedAt()));
        }
        @Nullable ContainerStateTerminated ended = state.getTerminated();
        if (ended != null) {
            ended.setStartedAt(ApiTime.truncated(ended.getStartedAt()));
            ended.setFinishedAt(ApiTime.truncated(ended.getFinishedAt()));
            ended.setExitCode(ended.getExitCode() == null ? 0 : ended.getExitCode());
            ended.setMessage(cut(ended.getMessage(), limit));
        }
    }

    private static @Nullable String cut(@Nullable String message, int limit) {
        if (message == null) {
            return null;
        }
        byte[] bytes = message.getBytes(UTF_8);
        if (bytes.length <= limit) {
            return message;
        }
        int end = limit;
        while ((bytes[end] & 0xC0) == 0x80) {
            end--;
        }
        return new String(bytes, 0, end, UTF_8);
    }
}
