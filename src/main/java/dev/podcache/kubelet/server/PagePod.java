package dev.podcache.kubelet.server;

import dev.podcache.pod.PodEnd;
import dev.podcache.time.ApiTime;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateWaiting;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Shows a pod on the page of its node: its phase, and what it waits for. */
final class PagePod {

    private PagePod() {}

    /** Returns the JSON of a pod. */
    static Map<String, Object> fields(Pod pod, Instant now) {
        PodStatus status = Objects.requireNonNullElseGet(pod.getStatus(), PodStatus::new);
        List<ContainerStatus> containers = status.getContainerStatuses();
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("namespace", PageState.text(pod.getMetadata().getNamespace()));
        fields.put("name", PageState.text(pod.getMetadata().getName()));
        fields.put("phase", PageState.text(status.getPhase()));
        fields.put("deleting", PodEnd.isDeleted(pod));
        fields.put("containers", pod.getSpec() == null ? 0 : pod.getSpec().getContainers().size());
        fields.put("ready", containers.stream().filter(each -> Boolean.TRUE.equals(each.getReady())).count());
        fields.put("restarts", containers.stream().mapToInt(PagePod::restarts).sum());
        ApiTime.parse(pod.getMetadata().getCreationTimestamp())
                .ifPresent(at -> fields.put("ageSeconds", PageState.since(at, now)));
        fields.put("waitsFor", waitsFor(status));
        return fields;
    }

    private static int restarts(ContainerStatus container) {
        return container.getRestartCount() == null ? 0 : container.getRestartCount();
    }

    /** Returns what the first container that waits says, else the reason of the pod, else "". */
    private static String waitsFor(PodStatus status) {
        return Stream.concat(status.getInitContainerStatuses().stream(), status.getContainerStatuses().stream())
                .flatMap(container -> waiting(container).stream())
                .findFirst()
                .orElseGet(() -> joined(status.getReason(), status.getMessage()));
    }

    private static Optional<String> waiting(ContainerStatus container) {
        return Optional.ofNullable(container.getState())
                .map(ContainerState::getWaiting)
                .map((ContainerStateWaiting waiting) -> joined(waiting.getReason(), waiting.getMessage()))
                .filter(text -> !text.isEmpty());
    }

    private static String joined(@Nullable String reason, @Nullable String message) {
        return Stream.of(PageState.text(reason), PageState.text(message))
                .filter(text -> !text.isEmpty())
                .collect(Collectors.joining(": "));
    }
}
