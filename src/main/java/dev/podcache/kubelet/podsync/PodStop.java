package dev.podcache.kubelet.podsync;

import com.google.common.collect.Lists;
import dev.podcache.kubelet.events.EventRecorder;
import dev.podcache.kubelet.podsync.LifecycleHooks.HookTarget;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.kubelet.runtime.PodState;
import dev.podcache.object.PodKey;
import dev.podcache.pod.EphemeralContainers;
import dev.podcache.pod.PodReferences;
import dev.podcache.pod.PodResources;
import dev.podcache.time.Durations;
import dev.podcache.time.TaskThreads;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.LifecycleHandler;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stops the containers of a pod: first all regular, ephemeral and init containers at the same time, then the sidecars one after the
 * other, the last one first. Before a container is stopped, its preStop hook runs; those of the sidecars begin at once.
 * The grace period covers all of it. Thread-safe. Follows {@code killContainersWithSyncResult} and {@code killContainer}
 * of the kubelet's {@code kuberuntime_container.go}.
 */
final class PodStop {

    private static final Logger log = LoggerFactory.getLogger(PodStop.class);

    /** What a container gets at least after its hook, however late it is stopped. */
    private static final Duration LEAST_GRACE = Duration.ofSeconds(2);

    private final PodRuntime runtime;
    private final RuntimeCalls calls;
    private final LifecycleHooks hooks;
    private final EventRecorder events;
    private final TaskThreads threads;
    private final Timekeeper timekeeper;

    PodStop(WorkerParts parts, RuntimeCalls calls, LifecycleHooks hooks) {
        this.runtime = parts.runtime();
        this.calls = calls;
        this.hooks = hooks;
        this.events = parts.events();
        this.threads = parts.threads();
        this.timekeeper = parts.timekeeper();
    }

    /**
     * Stops what runs. Returns when no container runs any more. If the stop of a container fails, those that are stopped at
     * the same time keep their grace period, and the sidecars go on; then the failure is thrown.
     */
    void stop(Pod pod, PodState state, Duration gracePeriod) throws IOException, InterruptedException {
        PodKey key = PodReferences.key(pod);
        long deadline = timekeeper.nanoTime() + Durations.nanos(gracePeriod);
        List<Container> sidecars =
                Lists.reverse(running(pod.getSpec().getInitContainers(), state.initContainers()).stream()
                        .filter(PodResources::isSidecar)
                        .toList());
        List<Container> others = new ArrayList<>(running(pod.getSpec().getInitContainers(), state.initContainers()));
        others.removeAll(sidecars);
        others.addAll(running(pod.getSpec().getContainers(), state.containers()));
        others.addAll(running(EphemeralContainers.of(pod), state.ephemeralContainers()));
        boolean inOrder = !sidecars.isEmpty() || others.stream().anyMatch(each -> hooks.preStop(each) != null);
        if (inOrder) {
            List<Callable<Container>> first = new ArrayList<>();
            others.forEach(each -> first.add(() -> stop(new HookTarget(pod, each, state.podIps()), gracePeriod)));
            sidecars.forEach(each -> first.add(() -> preStop(new HookTarget(pod, each, state.podIps()), gracePeriod)));
            atOnce(first);
            for (Container sidecar : sidecars) {
                calls.throwIfClosed();
                runtime.stopContainer(key, sidecar.getName(), left(deadline));
            }
        }
        calls.throwIfClosed();
        runtime.stopPod(key, left(deadline));
    }

    private static List<Container> running(List<Container> containers, List<ContainerStatus> statuses) {
        return containers.stream()
                .filter(container -> {
                    ContainerStatus status = States.named(statuses, container.getName());
                    return status != null && States.isRunning(status);
                })
                .toList();
    }

    /** Stops one running container. Returns when it does not run any more. */
    Container stop(HookTarget target, Duration gracePeriod) throws IOException, InterruptedException {
        long deadline = timekeeper.nanoTime() + Durations.nanos(gracePeriod);
        preStop(target, gracePeriod);
        calls.throwIfClosed();
        runtime.stopContainer(
                PodReferences.key(target.pod()), target.container().getName(), left(deadline));
        return target.container();
    }

    /** Runs the preStop hook of a container, if it has one. A failure does not stop the stop. */
    private Container preStop(HookTarget target, Duration gracePeriod) throws InterruptedException {
        LifecycleHandler hook = hooks.preStop(target.container());
        if (hook != null) {
            hooks.run(hook, target, gracePeriod).ifPresent(failure -> {
                log.warn("pod {}: preStop {}; stopping the container", KnownPods.name(target.pod()), failure);
                // as in a kubelet, the event does not show the failure, which may contain what the server answered
                PodEvent.preStopFailed(target.pod(), target.container().getName())
                        .emit(target.pod(), events);
            });
        }
        return target.container();
    }

    /** Runs all tasks to their ends, and throws the first failure. */
    private void atOnce(List<Callable<Container>> tasks) throws IOException, InterruptedException {
        List<Future<Container>> running = tasks.stream().map(threads::submit).toList();
        IOException first = null;
        try {
            for (Future<Container> task : running) {
                IOException failure = failure(task);
                if (first == null) {
                    first = failure;
                } else if (failure != null) {
                    first.addSuppressed(failure);
                }
            }
        } finally {
            // after an interrupt; has no effect on those that have ended
            running.forEach(task -> task.cancel(true));
        }
        if (first != null) {
            throw first;
        }
    }

    /** Waits for the end of a task, and returns why it failed; null if it succeeded. */
    private static @Nullable IOException failure(Future<Container> task) throws InterruptedException {
        try {
            task.get();
            return null;
        } catch (ExecutionException e) {
            Throwable cause = Objects.requireNonNull(e.getCause());
            return new IOException(PodContainers.text(cause), cause);
        }
    }

    private Duration left(long deadline) {
        Duration left = Duration.ofNanos(deadline - timekeeper.nanoTime());
        return left.compareTo(LEAST_GRACE) < 0 ? LEAST_GRACE : left;
    }
}
