package dev.podcache.cli.observe;

import com.google.common.collect.ImmutableMap;
import dev.podcache.cli.output.EventWriter;
import dev.podcache.cli.output.ProgramEvent;
import dev.podcache.kubelet.podsync.PodListener;
import io.fabric8.kubernetes.api.model.ContainerStateWaiting;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Reports each change of a pod that {@code kubectl get pods} would show. Thread-safe. */
final class PodReports implements PodListener {

    private final EventWriter events;
    private final Map<String, String> reported = new ConcurrentHashMap<>();

    PodReports(EventWriter events) {
        this.events = events;
    }

    @Override
    public void synced(Pod pod, PodStatus status) {
        long ready = status.getContainerStatuses().stream()
                .filter(each -> Boolean.TRUE.equals(each.getReady()))
                .count();
        String waiting = Stream.concat(
                        status.getInitContainerStatuses().stream(), status.getContainerStatuses().stream())
                .filter(each -> each.getState() != null && each.getState().getWaiting() != null)
                .map(PodReports::waiting)
                .collect(Collectors.joining("; "));
        String text = status.getPhase() + " " + ready + "/"
                + status.getContainerStatuses().size() + " ready" + (waiting.isEmpty() ? "" : ": " + waiting);
        if (!text.equals(reported.put(pod.getMetadata().getUid(), text))) {
            write(pod, text, String.valueOf(status.getPhase()), waiting);
        }
    }

    @Override
    public void ended(Pod pod) {
        reported.remove(pod.getMetadata().getUid());
        write(pod, "ended; its references are released", "ended", "");
    }

    private void write(Pod pod, String text, String phase, String waiting) {
        String name = pod.getMetadata().getNamespace() + "/" + pod.getMetadata().getName();
        ImmutableMap<String, Object> facts = ImmutableMap.of("pod", name, "phase", phase, "waiting", waiting);
        events.write(new ProgramEvent("pod", String.format("%-28s %s", name, text), facts));
    }

    private static String waiting(ContainerStatus status) {
        ContainerStateWaiting waiting = status.getState().getWaiting();
        String message = waiting.getMessage() == null ? "" : ", " + waiting.getMessage();
        return status.getName() + " " + waiting.getReason() + message;
    }
}
