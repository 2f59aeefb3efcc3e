package dev.podcache.kubelet.podstatus;

import static dev.podcache.kubelet.podstatus.PodParts.present;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.base.Strings;
import dev.podcache.time.ApiTime;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateTerminated;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodIP;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Normalises statuses before they are compared and sent: truncates times to seconds, sorts containers, completes
 * the pod's addresses, and limits termination messages.
 */
final class PodStatusNormalizer {

    // Follows normalizeStatus of pkg/kubelet/status/status_manager.go of Kubernetes, but never cuts a message inside a
    // character.

    /** The limit of all termination messages of a pod together, in bytes of UTF-8. */
    static final int MAX_MESSAGE_BYTES = 12288;

    private PodStatusNormalizer() {}

    /** Returns a normalised copy. */
    static PodStatus normalised(Pod pod, PodStatus status) {
        PodStatus copy = PodParts.copy(status);
        PodSpec spec = pod.getSpec();
        copy.setStartTime(ApiTime.truncated(copy.getStartTime()));
        normaliseAddresses(copy);
        for (PodCondition condition : present(copy.getConditions())) {
            condition.setLastProbeTime(ApiTime.truncated(condition.getLastProbeTime()));
            condition.setLastTransitionTime(ApiTime.truncated(condition.getLastTransitionTime()));
        }
        int containers = present(spec.getContainers()).size()
                + present(spec.getInitContainers()).size()
                + present(spec.getEphemeralContainers()).size();
        int limit = containers == 0 ? MAX_MESSAGE_BYTES : MAX_MESSAGE_BYTES / containers;
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

    /** Makes {@code podIP} and the first of {@code podIPs} equal, as the API server does: {@code podIP} counts if both are set. */
    private static void normaliseAddresses(PodStatus status) {
        List<PodIP> all = present(status.getPodIPs());
        @Nullable String first = all.isEmpty() ? null : all.get(0).getIp();
        if (Strings.isNullOrEmpty(status.getPodIP())) {
            status.setPodIP(first);
        } else if (!status.getPodIP().equals(first)) {
            status.setPodIPs(List.of(PodStatuses.podIp(status.getPodIP())));
        }
    }

    private static List<ContainerStatus> normalised(
            @Nullable List<ContainerStatus> statuses, Comparator<ContainerStatus> order, int limit) {
        List<ContainerStatus> sorted = new ArrayList<>(present(statuses));
        sorted.sort(order);
        for (ContainerStatus status : sorted) {
            // the API server adds these defaults
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
        @Nullable ContainerStateTerminated terminated = state.getTerminated();
        if (terminated != null) {
            terminated.setStartedAt(ApiTime.truncated(terminated.getStartedAt()));
            terminated.setFinishedAt(ApiTime.truncated(terminated.getFinishedAt()));
            terminated.setExitCode(terminated.getExitCode() == null ? 0 : terminated.getExitCode());
            terminated.setMessage(cut(terminated.getMessage(), limit));
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
