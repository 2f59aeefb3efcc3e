package dev.podcache.kubelet.podsync;

import com.google.common.collect.Lists;
import dev.podcache.kubelet.runtime.PodState;
import dev.podcache.object.PodKey;
import dev.podcache.pod.EphemeralContainers;
import dev.podcache.pod.PodReferences;
import dev.podcache.pod.PodResources;
import dev.podcache.time.ApiTime;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateBuilder;
import io.fabric8.kubernetes.api.model.ContainerStateRunning;
import io.fabric8.kubernetes.api.model.ContainerStateTerminated;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Completes what a runtime shows of a pod by what was reported before: the restart count and the last state of each
 * container, the times when it started and ended, and containers that the runtime has forgotten. Then adds whether a
 * container has started and is ready.
 *
 * <p>A container that ran and that the runtime has forgotten has terminated with exit code 137, as {@code
 * convertToAPIContainerStatuses} of the kubelet's {@code kubelet_pods.go} reports it. An init container that has succeeded and
 * that the runtime has forgotten must run again, unless the runtime shows a container that is started after it: after a
 * reboot of the machine, what it wrote may be gone.
 */
final class ContainerHistory {

    /** The exit code of a container that was killed: 128 + SIGKILL. */
    private static final int KILLED = 137;

    private final Pod pod;
    private final PodKey key;
    private final ContainerHealth health;
    private final String now;
    private final Set<String> lost = new HashSet<>();

    /**
     * Makes a history of one pod.
     *
     * @param now the current time, which is the end of containers whose end is not known
     */
    ContainerHistory(Pod pod, ContainerHealth health, String now) {
        this.pod = pod;
        this.key = PodReferences.key(pod);
        this.health = health;
        this.now = now;
    }

    /** Returns the statuses of all containers that were ever started, in the order of the spec, without health. */
    PodState complete(PodState shown, @Nullable PodStatus before) {
        PodStatus reported = before == null ? new PodStatus() : before;
        return new PodState(
                completeInit(shown, reported.getInitContainerStatuses()),
                complete(pod.getSpec().getContainers(), shown.containers(), reported.getContainerStatuses()),
                complete(
                        EphemeralContainers.of(pod),
                        shown.ephemeralContainers(),
                        reported.getEphemeralContainerStatuses()),
                shown.podIps(),
                shown.containerHashes());
    }

    /** Returns the init containers that have succeeded, as reported before, and must run again. Known after {@link #complete}. */
    Set<String> lost() {
        return lost;
    }

    /** Adds to the result of {@link #complete} whether each container has started and is ready. */
    PodState withHealth(PodState complete) {
        return new PodState(
                withHealth(pod.getSpec().getInitContainers(), complete.initContainers()),
                withHealth(pod.getSpec().getContainers(), complete.containers()),
                withoutHealth(EphemeralContainers.of(pod), complete.ephemeralContainers()),
                complete.podIps(),
                complete.containerHashes());
    }

    /**
     * Sets anew whether a container has started and is ready, in a status that was reported. Thread-safe.
     *
     * @param shown what the runtime shows
     */
    void setHealth(PodState shown, ContainerStatus reported) {
        setHealth(pod.getSpec().getInitContainers(), shown.initContainers(), reported);
        setHealth(pod.getSpec().getContainers(), shown.containers(), reported);
    }

    private void setHealth(List<Container> containers, List<ContainerStatus> shown, ContainerStatus reported) {
        for (Container container : containers) {
            ContainerStatus status = States.named(shown, container.getName());
            if (status != null
                    && container.getName().equals(reported.getName())
                    && States.id(status).equals(States.id(reported))) {
                setFlags(container, status, reported);
            }
        }
    }

    private List<ContainerStatus> withHealth(List<Container> containers, List<ContainerStatus> statuses) {
        List<ContainerStatus> all = new ArrayList<>();
        for (Container container : containers) {
            ContainerStatus status = States.named(statuses, container.getName());
            if (status != null) {
                all.add(withFlags(container, status));
            }
        }
        return all;
    }

    private List<ContainerStatus> complete(
            List<Container> containers, List<ContainerStatus> shown, List<ContainerStatus> reported) {
        List<ContainerStatus> complete = new ArrayList<>();
        for (Container container : containers) {
            ContainerStatus current = States.named(shown, container.getName());
            ContainerStatus before = States.named(reported, container.getName());
            ContainerStatus known = current == null ? forgotten(before) : continued(current, before);
            if (known != null) {
                complete.add(withTimes(known, before));
            }
        }
        return complete;
    }

    /**
     * Returns a state that may follow {@code before} at the API server. Unless the restart policy of the pod is Always, the
     * server refuses that an init container that has succeeded is no longer shown as terminated. While one runs again, it is
     * shown as before.
     */
    static PodState reportable(Pod pod, PodState state, @Nullable PodStatus before) {
        String policy = pod.getSpec().getRestartPolicy();
        if (before == null || !("OnFailure".equals(policy) || "Never".equals(policy))) {
            return state;
        }
        List<ContainerStatus> init = new ArrayList<>();
        for (ContainerStatus status : state.initContainers()) {
            ContainerStatus earlier = States.named(before.getInitContainerStatuses(), status.getName());
            boolean mustStay = earlier != null
                    && States.isSuccess(earlier)
                    && !States.isTerminated(status)
                    && pod.getSpec().getInitContainers().stream()
                            .noneMatch(each -> each.getName().equals(status.getName()) && PodResources.isSidecar(each));
            init.add(mustStay ? earlier : status);
        }
        return new PodState(
                init, state.containers(), state.ephemeralContainers(), state.podIps(), state.containerHashes());
    }

    private List<ContainerStatus> completeInit(PodState shown, List<ContainerStatus> reported) {
        List<ContainerStatus> complete = new ArrayList<>();
        boolean isPassed = !shown.containers().isEmpty();
        for (Container container : Lists.reverse(pod.getSpec().getInitContainers())) {
            ContainerStatus current = States.named(shown.initContainers(), container.getName());
            ContainerStatus before = States.named(reported, container.getName());
            ContainerStatus known = current == null ? forgotten(before) : continued(current, before);
            if (current == null
                    && !isPassed
                    && known != null
                    && States.isSuccess(known)
                    && !PodResources.isSidecar(container)) {
                lost.add(container.getName());
            }
            isPassed |= current != null;
            if (known != null) {
                complete.add(withTimes(known, before));
            }
        }
        return Lists.reverse(complete);
    }

    /**
     * Adds what a runtime left out: the time when a container started, and of its end the ID and the time. Such a time
     * is when the agent first saw it. The restart waits from then on; with the current time at each sync it would wait
     * for ever. An end in the future, which a runtime with another clock may show, counts as left out.
     */
    private ContainerStatus withTimes(ContainerStatus known, @Nullable ContainerStatus before) {
        ContainerStateTerminated end = States.termination(known);
        if (end == null) {
            return withStart(known, before);
        }
        return new ContainerStatusBuilder(known)
                .editState()
                .editTerminated()
                .withContainerID(end.getContainerID() == null ? known.getContainerID() : end.getContainerID())
                .withFinishedAt(isPast(end.getFinishedAt()) ? end.getFinishedAt() : firstSeen(known, before))
                .endTerminated()
                .endState()
                .build();
    }

    private ContainerStatus withStart(ContainerStatus known, @Nullable ContainerStatus before) {
        if (!States.isRunning(known) || isTime(known.getState().getRunning().getStartedAt())) {
            return known;
        }
        ContainerStateRunning earlier = before == null || !States.isRunning(before) || isOtherInstance(known, before)
                ? null
                : before.getState().getRunning();
        return new ContainerStatusBuilder(known)
                .editState()
                .withNewRunning()
                .withStartedAt(earlier != null && isTime(earlier.getStartedAt()) ? earlier.getStartedAt() : now)
                .endRunning()
                .endState()
                .build();
    }

    private String firstSeen(ContainerStatus ended, @Nullable ContainerStatus before) {
        if (before == null || isOtherInstance(ended, before)) {
            return now;
        }
        ContainerStateTerminated end =
                States.isWaiting(before) ? States.lastTermination(before) : States.termination(before);
        return end != null && isPast(end.getFinishedAt()) ? end.getFinishedAt() : now;
    }

    private static boolean isTime(@Nullable String text) {
        return ApiTime.parse(text).isPresent();
    }

    private boolean isPast(@Nullable String text) {
        // in whole seconds, as the current time is
        return ApiTime.parse(text)
                .filter(time -> ApiTime.of(time).compareTo(now) <= 0)
                .isPresent();
    }

    /** Returns the status of a container that the runtime does not show; null if it was never started. */
    private @Nullable ContainerStatus forgotten(@Nullable ContainerStatus before) {
        if (before == null) {
            return null;
        }
        ContainerStatusBuilder known = new ContainerStatusBuilder(before);
        if (States.isRunning(before)) {
            return known.withState(unknownEnd(before)).build();
        }
        if (States.isTerminated(before)) {
            return known.build();
        }
        return States.lastTermination(before) == null
                ? null
                : known.withState(before.getLastState()).withLastState(null).build();
    }

    private static ContainerStatus continued(ContainerStatus current, @Nullable ContainerStatus before) {
        ContainerStatusBuilder known = new ContainerStatusBuilder(current);
        if (before == null || !wasStarted(before)) {
            return known.build();
        }
        boolean restarted = isOtherInstance(current, before);
        int reported = count(before) + (restarted ? 1 : 0);
        known.withRestartCount(Math.max(count(current), reported));
        if (current.getImage() == null && !restarted) {
            known.withImage(before.getImage());
        }
        if (States.lastTermination(current) == null) {
            known.withLastState(restarted ? endOf(before) : lastState(before));
        }
        return known.build();
    }

    private static boolean wasStarted(ContainerStatus status) {
        return !States.isWaiting(status) || States.lastTermination(status) != null;
    }

    private static boolean isOtherInstance(ContainerStatus current, ContainerStatus before) {
        String id = States.id(current);
        String idBefore = States.id(before);
        if (id.isEmpty() || idBefore.isEmpty()) {
            return States.isRunning(current) && !States.isRunning(before);
        }
        return !id.equals(idBefore);
    }

    /** Returns how the instance of an earlier report ended. */
    private static @Nullable ContainerState endOf(ContainerStatus before) {
        return States.isTerminated(before) ? before.getState() : before.getLastState();
    }

    /** Returns the last state of the same instance. A container that waited for its restart showed its end there. */
    private static @Nullable ContainerState lastState(ContainerStatus before) {
        return States.isWaiting(before) ? null : before.getLastState();
    }

    private ContainerState unknownEnd(ContainerStatus before) {
        ContainerStateTerminated end = new ContainerStateTerminated();
        end.setExitCode(KILLED);
        end.setReason("ContainerStatusUnknown");
        end.setMessage("The container could not be located: the runtime does not know it any more");
        end.setContainerID(before.getContainerID());
        end.setStartedAt(before.getState().getRunning().getStartedAt());
        end.setFinishedAt(now);
        return new ContainerStateBuilder().withTerminated(end).build();
    }

    private ContainerStatus withFlags(Container container, ContainerStatus status) {
        setFlags(container, status, status);
        return filled(container, status);
    }

    private void setFlags(Container container, ContainerStatus shown, ContainerStatus status) {
        String id = States.id(shown);
        boolean running = States.isRunning(shown);
        boolean started = running && !Boolean.FALSE.equals(shown.getStarted()) && health.isStarted(key, container, id);
        boolean ready = started && !Boolean.FALSE.equals(shown.getReady()) && health.isReady(key, container, id);
        status.setStarted(started);
        status.setReady(ready || isCompletedInit(container, shown));
    }

    /** Ephemeral containers have no probes. As in a kubelet, they are never ready, and do not show whether they have started. */
    private static List<ContainerStatus> withoutHealth(List<Container> containers, List<ContainerStatus> statuses) {
        List<ContainerStatus> all = new ArrayList<>();
        for (Container container : containers) {
            ContainerStatus status = States.named(statuses, container.getName());
            if (status != null) {
                status.setReady(false);
                status.setStarted(null);
                all.add(filled(container, status));
            }
        }
        return all;
    }

    /** Adds what a runtime may leave out. */
    private static ContainerStatus filled(Container container, ContainerStatus status) {
        status.setRestartCount(count(status));
        if (status.getImage() == null) {
            status.setImage(container.getImage());
        }
        if (status.getImageID() == null) {
            status.setImageID("");
        }
        return status;
    }

    private boolean isCompletedInit(Container container, ContainerStatus status) {
        return pod.getSpec().getInitContainers().contains(container)
                && !PodResources.isSidecar(container)
                && States.isSuccess(status);
    }

    private static int count(ContainerStatus status) {
        return status.getRestartCount() == null ? 0 : status.getRestartCount();
    }
}
