package dev.podcache.kubelet.server;

import com.google.common.io.ByteStreams;
import dev.podcache.kubelet.runtime.ContainerLogs;
import dev.podcache.kubelet.runtime.ContainerLogs.LogOptions;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.kubelet.runtime.PodState;
import dev.podcache.object.Quoted;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.NoSuchFileException;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * {@code /containerLogs/<namespace>/<pod>/<container>}: the output of a container, for {@code kubectl logs}. After
 * {@code getContainerLogs} and {@code validateContainerLogStatus} of upstream's kubelet.
 */
final class LogEndpoint {

    private LogEndpoint() {}

    /**
     * Opens the output that a request names. May block.
     *
     * @throws RefusedException if there is none; the message says why
     */
    static InputStream open(KubeletRequest request, Collection<Pod> pods, Optional<ContainerLogs> logs, Instant now)
            throws IOException {
        List<String> names = request.segments();
        if (names.size() != 3) {
            throw new RefusedException(404, "logs are at /containerLogs/<namespace>/<pod>/<container>");
        }
        LogParameters parameters = LogParameters.of(request, now);
        String container = names.get(2);
        KnownPod pod = KnownPod.find(pods, names.get(0), names.get(1), "", container);
        ContainerLogs runtime = logs.orElseThrow(
                () -> new RefusedException(501, "the container runtime of this node keeps no logs of containers"));
        try {
            InputStream all =
                    runtime.logs(pod.key(), container, options(parameters.options(), runtime, pod, container));
            return parameters.limitBytes().isPresent()
                    ? ByteStreams.limit(all, parameters.limitBytes().getAsLong())
                    : all;
        } catch (NoSuchFileException e) {
            throw new RefusedException(
                    400, reason(pod, container, parameters.options().previous(), e));
        }
    }

    /**
     * While a container waits for its restart, the instance that has ended is the newest of the runtime, and the previous one
     * in the status. The status may be reported later than the runtime has started the next one.
     */
    private static LogOptions options(LogOptions asked, ContainerLogs runtime, KnownPod pod, String container) {
        boolean waits = asked.previous()
                && pod.status(container)
                        .filter(status ->
                                status.getState() != null && status.getState().getWaiting() != null)
                        .map(ContainerStatus::getLastState)
                        .map(ContainerState::getTerminated)
                        .isPresent()
                && !isRunning(runtime, pod, container);
        return waits
                ? new LogOptions(asked.follow(), false, asked.timestamps(), asked.tailLines(), asked.since())
                : asked;
    }

    private static boolean isRunning(ContainerLogs logs, KnownPod pod, String container) {
        if (!(logs instanceof PodRuntime runtime)) {
            return false;
        }
        PodState state = runtime.status(pod.pod());
        return Stream.of(state.initContainers(), state.containers(), state.ephemeralContainers())
                .flatMap(List::stream)
                .anyMatch(shown -> container.equals(shown.getName())
                        && shown.getState() != null
                        && shown.getState().getRunning() != null);
    }

    /** The reported status may be older than the runtime's answer, so it explains only what the runtime refused. */
    private static String reason(KnownPod pod, String container, boolean previous, NoSuchFileException refusal) {
        String what = "container \"" + container + "\" in pod \"" + pod.name() + "\"";
        if (previous) {
            return "previous terminated " + what + " not found";
        }
        ContainerState state =
                pod.status(container).map(ContainerStatus::getState).orElse(null);
        if (state == null) {
            return what + " is not available";
        }
        if (state.getWaiting() == null) {
            return what + " has no logs: " + Quoted.text(String.valueOf(refusal.getMessage()));
        }
        String waiting = state.getWaiting().getReason();
        return what + " is waiting to start: "
                + switch (waiting == null ? "" : waiting) {
                    case "ErrImagePull" -> "image can't be pulled";
                    case "ImagePullBackOff" -> "trying and failing to pull image";
                    case "" -> "no logs yet";
                    default -> waiting;
                };
    }
}
