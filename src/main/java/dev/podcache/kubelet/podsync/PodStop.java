package dev.podcache.kubelet.podsync;

import com.google.common.collect.Lists;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.kubelet.runtime.PodState;
import dev.podcache.object.PodKey;
import dev.podcache.time.TaskThreads;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

/**
 * Stops the containers of a pod: first all regular and init containers at the same time, then the sidecars one after the
 * other, the last one first. The grace period covers all of it. Follows {@code killContainersWithSyncResult} of the
 * kubelet's {@code kuberuntime_container.go}.
 */
final class PodStop {

    /** What a container gets at least, however late it is stopped. */
    private static final Duration LEAST_GRACE = Duration.ofSeconds(1);

    private final PodRuntime runtime;
    private final TaskThreads threads;
    private final Timekeeper timekeeper;

    PodStop(PodRuntime runtime, TaskThreads threads, Timekeeper timekeeper) {
        this.runtime = runtime;
        this.threads = threads;
        this.timekeeper = timekeeper;
    }

    /** Stops what runs. Returns when no container runs any more. */
    void stop(Pod pod, PodKey key, PodState state, Duration gracePeriod) throws IOException, InterruptedException {
        List<String> sidecars = Lists.reverse(pod.getSpec().getInitContainers().stream()
                .filter(States::isSidecar)
                .map(Container::getName)
                .filter(name -> isRunning(state.initContainers(), name))
                .toList());
        List<String> others = pod.getSpec().getContainers().stream()
                .map(Container::getName)
                .filter(name -> isRunning(state.containers(), name))
                .toList();
        long deadline = timekeeper.nanoTime() + gracePeriod.toNanos();
        if (!sidecars.isEmpty()) {
            stopAtOnce(key, others, gracePeriod);
            for (String sidecar : sidecars) {
                runtime.stop(key, sidecar, left(deadline));
            }
        }
        runtime.stop(key, left(deadline));
    }

    private void stopAtOnce(PodKey key, List<String> containers, Duration gracePeriod)
            throws IOException, InterruptedException {
        List<Future<String>> stops = containers.stream()
                .map(container -> threads.submit(() -> {
                    runtime.stop(key, container, gracePeriod);
                    return container;
                }))
                .toList();
        try {
            for (Future<String> stop : stops) {
                stop.get();
            }
        } catch (ExecutionException e) {
            Throwable cause = Objects.requireNonNull(e.getCause());
            throw new IOException(PodContainers.text(cause), cause);
        } finally {
            // has no effect on those that have ended
            stops.forEach(stop -> stop.cancel(true));
        }
    }

    private Duration left(long deadline) {
        Duration left = Duration.ofNanos(deadline - timekeeper.nanoTime());
        return left.compareTo(LEAST_GRACE) < 0 ? LEAST_GRACE : left;
    }

    private static boolean isRunning(List<ContainerStatus> statuses, String name) {
        ContainerStatus status = States.named(statuses, name);
        return status != null && States.isRunning(status);
    }
}
