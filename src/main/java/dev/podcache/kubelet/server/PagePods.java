package dev.podcache.kubelet.server;

import com.google.common.base.Ascii;
import com.google.common.base.Strings;
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
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Shows the pods of a node on its page: how they are, and why those need attention that are not well. Immutable. */
final class PagePods {

    /** Reasons to wait of a pod that is starting. */
    private static final Set<String> STARTING = Set.of("ContainerCreating", "PodInitializing");

    /** How long a pod may start without attention, and a container that was restarted has it. */
    private static final Duration SOON = Duration.ofMinutes(1);

    private static final Duration LATELY = Duration.ofMinutes(5);

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
        PodHealth health = health(pod, status);
        fields.put("status", health.status);
        fields.put("severity", Ascii.toLowerCase(health.severity.name()));
        fields.put("waitsFor", health.why);
        return fields;
    }

    /** How much attention a pod needs. */
    private enum Severity {
        GOOD,
        /** On its way: starts, or is being deleted. */
        NONE,
        WARN,
        BAD
    }

    /**
     * How a pod is.
     *
     * @param status one or two words, as {@code kubectl get pods} has them
     * @param why what to look at; "" if all is well
     */
    private record PodHealth(Severity severity, String status, String why) {}

    private PodHealth health(Pod pod, PodStatus status) {
        String said = said(status);
        String why = why(said, String.valueOf(pod.getMetadata().getUid()));
        String phase = Strings.nullToEmpty(status.getPhase());
        if (PodEnd.isDeleted(pod)) {
            return new PodHealth(Severity.NONE, "Deleting", why);
        }
        if (phase.equals("Succeeded")) {
            return new PodHealth(Severity.GOOD, phase, "");
        }
        if (phase.equals("Failed")) {
            String reason = PageState.text(status.getReason());
            return new PodHealth(Severity.BAD, reason.isEmpty() ? phase : reason, why.isEmpty() ? ends(status) : why);
        }
        Optional<String> trouble = containers(status)
                .map(PagePods::waitingReason)
                .filter(reason -> !reason.isEmpty() && !STARTING.contains(reason))
                .findFirst();
        if (trouble.isPresent()) {
            String crashes = ends(status);
            return new PodHealth(
                    Severity.BAD, trouble.get(), crashes.isEmpty() ? why : crashes + (why.isEmpty() ? "" : "; " + why));
        }
        if (phase.equals("Running")) {
            return running(pod, status, why);
        }
        boolean soon = age(pod).compareTo(SOON) < 0;
        return new PodHealth(soon ? Severity.NONE : Severity.WARN, phase.isEmpty() ? "No status" : phase, why);
    }

    private PodHealth running(Pod pod, PodStatus status, String why) {
        List<String> unready = status.getContainerStatuses().stream()
                .filter(each -> !Boolean.TRUE.equals(each.getReady()))
                .map(each -> PageState.text(each.getName()))
                .toList();
        if (!unready.isEmpty()) {
            boolean soon = age(pod).compareTo(SOON) < 0;
            String told = (unready.size() == 1 ? "container " : "containers ") + String.join(", ", unready)
                    + (unready.size() == 1 ? " is" : " are") + " not ready";
            return new PodHealth(
                    soon ? Severity.NONE : Severity.WARN, "Not ready", why.isEmpty() ? told : told + "; " + why);
        }
        String crashes = containers(status)
                .filter(this::restartedLately)
                .findFirst()
                .map(PagePods::end)
                .orElse("");
        return crashes.isEmpty()
                ? new PodHealth(Severity.GOOD, "Running", "")
                : new PodHealth(Severity.WARN, "Restarted", crashes);
    }

    private boolean restartedLately(ContainerStatus container) {
        return Optional.ofNullable(container.getLastState())
                .map(ContainerState::getTerminated)
                .filter(end -> end.getExitCode() != null && end.getExitCode() != 0)
                .flatMap(end -> ApiTime.parse(end.getFinishedAt()))
                .filter(at -> Duration.between(at, now).compareTo(LATELY) < 0)
                .isPresent();
    }

    private Duration age(Pod pod) {
        return ApiTime.parse(pod.getMetadata().getCreationTimestamp())
                .map(at -> Duration.between(at, now))
                .orElse(SOON);
    }

    /** Returns how the first container ended that failed; "" if none did. */
    private static String ends(PodStatus status) {
        return containers(status)
                .map(PagePods::end)
                .filter(end -> !end.isEmpty())
                .findFirst()
                .orElse("");
    }

    private static String end(ContainerStatus container) {
        return Stream.of(Optional.ofNullable(container.getState()), Optional.ofNullable(container.getLastState()))
                .flatMap(Optional::stream)
                .map(ContainerState::getTerminated)
                .filter(end -> end != null && end.getExitCode() != null && end.getExitCode() != 0)
                .findFirst()
                .map(end -> "container " + PageState.text(container.getName()) + " ended with exit code "
                        + end.getExitCode()
                        + (Strings.isNullOrEmpty(end.getMessage()) ? "" : ": " + PageState.text(end.getMessage())))
                .orElse("");
    }

    private static Stream<ContainerStatus> containers(PodStatus status) {
        return Stream.concat(status.getInitContainerStatuses().stream(), status.getContainerStatuses().stream());
    }

    private static String waitingReason(ContainerStatus container) {
        return Optional.ofNullable(container.getState())
                .map(ContainerState::getWaiting)
                .map(waiting -> PageState.text(waiting.getReason()))
                .orElse("");
    }

    /** Containers whose volumes cannot be mounted do not say why, so the objects of the pod do. */
    private String why(String said, String uid) {
        return said.isEmpty()
                ? ""
                : Stream.concat(Stream.of(said), missing.get(uid).stream()).collect(Collectors.joining("; "));
    }

    private static int restarts(ContainerStatus container) {
        return container.getRestartCount() == null ? 0 : container.getRestartCount();
    }

    /** Returns what the first container that waits says, else the reason of the pod, else "". */
    private static String said(PodStatus status) {
        return containers(status)
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
