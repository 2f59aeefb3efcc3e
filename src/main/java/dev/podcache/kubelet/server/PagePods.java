package dev.podcache.kubelet.server;

import com.google.common.collect.ImmutableSetMultimap;
import dev.podcache.manager.ObjectEntry;
import dev.podcache.object.CacheState;
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

/** Shows the pods of a node on its page: their phases, and what they wait for. Immutable. */
final class PagePods {

    private final ImmutableSetMultimap<String, String> missing;
    private final Instant now;

    /** @param entries all objects that are cached for the pods */
    PagePods(List<ObjectEntry> entries, Instant now) {
        this.missing = missing(entries);
        this.now = now;
    }

    /** Returns what is wrong with the objects that a pod refers to, by the UID of the pod. */
    private static ImmutableSetMultimap<String, String> missing(List<ObjectEntry> entries) {
        ImmutableSetMultimap.Builder<String, String> missing = ImmutableSetMultimap.builder();
        for (ObjectEntry entry : entries) {
            String object = entry.kind().name() + " " + entry.key().name();
            if (entry.cacheState() == CacheState.ABSENT) {
                entry.referrers().forEach(holder -> missing.put(holder.uid(), object + " does not exist"));
            } else if (entry.lastFailure().isPresent()) {
                entry.referrers().forEach(holder -> missing.put(holder.uid(), object + " cannot be read"));
            }
        }
        return missing.build();
    }

    /** Returns the JSON of a pod. */
    Map<String, Object> fields(Pod pod) {
        PodStatus status = Objects.requireNonNullElseGet(pod.getStatus(), PodStatus::new);
        List<ContainerStatus> containers = status.getContainerStatuses();
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("namespace", PageState.text(pod.getMetadata().getNamespace()));
        fields.put("name", PageState.text(pod.getMetadata().getName()));
        fields.put("phase", PageState.text(status.getPhase()));
        fields.put("deleting", PodEnd.isDeleted(pod));
        fields.put(
                "containers",
                pod.getSpec() == null ? 0 : pod.getSpec().getContainers().size());
        fields.put(
                "ready",
                containers.stream()
                        .filter(each -> Boolean.TRUE.equals(each.getReady()))
                        .count());
        fields.put("restarts", containers.stream().mapToInt(PagePods::restarts).sum());
        ApiTime.parse(pod.getMetadata().getCreationTimestamp())
                .ifPresent(at -> fields.put("ageSeconds", PageState.since(at, now)));
        fields.put("waitsFor", waitsFor(status, String.valueOf(pod.getMetadata().getUid())));
        return fields;
    }

    /** Containers whose volumes cannot be mounted do not say why, so the objects of the pod do. */
    private String waitsFor(PodStatus status, String uid) {
        String said = said(status);
        return said.isEmpty()
                ? ""
                : Stream.concat(Stream.of(said), missing.get(uid).stream()).collect(Collectors.joining("; "));
    }

    private static int restarts(ContainerStatus container) {
        return container.getRestartCount() == null ? 0 : container.getRestartCount();
    }

    /** Returns what the first container that waits says, else the reason of the pod, else "". */
    private static String said(PodStatus status) {
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
