package dev.podcache.cli.observe;

import com.google.common.collect.ImmutableMap;
import dev.podcache.cli.output.Account;
import dev.podcache.cli.output.Event;
import dev.podcache.kubelet.podsync.PodListener;
import io.fabric8.kubernetes.api.model.ContainerStateWaiting;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Tells what becomes of pods: a line for each change that {@code kubectl get pods} would show. Thread-safe. */
final class PodNews implements PodListener {

    private final Account account;
    private final Map<String, String> told = new ConcurrentHashMap<>();

    PodNews(Account account) {
        this.account = account;
    }

    @Override
    public void synced(Pod pod, PodStatus status) {
        String phase = String.valueOf(status.getPhase());
        String waits = waits(status);
        String line = phase + ready(status) + (waits.isEmpty() ? "" : ": " + waits);
        if (!line.equals(told.put(pod.getMetadata().getUid(), line))) {
            tell(pod, line, ImmutableMap.of("phase", phase, "waiting", waits));
        }
    }

    @Override
    public void ended(Pod pod) {
        told.remove(pod.getMetadata().getUid());
        tell(pod, "ended, its references are given back", ImmutableMap.of("phase", "ended", "waiting", ""));
    }

    private void tell(Pod pod, String line, ImmutableMap<String, Object> facts) {
        String name = pod.getMetadata().getNamespace() + "/" + pod.getMetadata().getName();
        account.tell(new Event(
                "pod",
                String.format("%-28s %s", name, line),
                ImmutableMap.<String, Object>builder()
                        .put("pod", name)
                        .putAll(facts)
                        .buildOrThrow()));
    }

    private static String ready(PodStatus status) {
        long ready = status.getContainerStatuses().stream()
                .filter(each -> Boolean.TRUE.equals(each.getReady()))
                .count();
        return " " + ready + "/" + status.getContainerStatuses().size() + " ready";
    }

    private static String waits(PodStatus status) {
        return Stream.concat(status.getInitContainerStatuses().stream(), status.getContainerStatuses().stream())
                .flatMap(each -> waiting(each).stream())
                .collect(Collectors.joining("; "));
    }

    private static Optional<String> waiting(ContainerStatus status) {
        ContainerStateWaiting waiting =
                status.getState() == null ? null : status.getState().getWaiting();
        if (waiting == null) {
            return Optional.empty();
        }
        String message = waiting.getMessage() == null ? "" : ", " + waiting.getMessage();
        return Optional.of(status.getName() + " " + waiting.getReason() + message);
    }
}
