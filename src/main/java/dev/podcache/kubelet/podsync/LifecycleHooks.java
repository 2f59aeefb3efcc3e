package dev.podcache.kubelet.podsync;

import dev.podcache.kubelet.probe.HookRequest;
import dev.podcache.kubelet.probe.ProbeExec.CommandResult;
import dev.podcache.kubelet.probe.ProbeNetwork;
import dev.podcache.pod.PodReferences;
import dev.podcache.time.Durations;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.LifecycleHandler;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * Runs the postStart and preStop hooks of containers. Thread-safe.
 *
 * <p>Follows the kubelet's {@code lifecycle/handlers.go}. The API server still accepts hooks of type {@code tcpSocket};
 * they fail, as in a kubelet.
 */
final class LifecycleHooks {

    private final RuntimeExec exec;
    private final Optional<ProbeNetwork> network;
    private final Timekeeper timekeeper;
    private volatile boolean closed;

    /** @param network sends HTTP requests; empty if no container has a hook to run */
    LifecycleHooks(RuntimeExec exec, Optional<ProbeNetwork> network, Timekeeper timekeeper) {
        this.exec = exec;
        this.network = network;
        this.timekeeper = timekeeper;
    }

    /** A container of a pod with these addresses. */
    record HookTarget(Pod pod, Container container, List<String> podIps) {}

    /** Returns the hook to run after the start of a container; null if there is none. */
    @Nullable
    LifecycleHandler postStart(Container container) {
        return container.getLifecycle() == null || network.isEmpty()
                ? null
                : container.getLifecycle().getPostStart();
    }

    /** Returns the hook to run before a container is stopped; null if there is none. */
    @Nullable
    LifecycleHandler preStop(Container container) {
        return container.getLifecycle() == null || network.isEmpty()
                ? null
                : container.getLifecycle().getPreStop();
    }

    /**
     * Runs a hook. Ends it when the time is over or the thread is interrupted.
     *
     * @return why the hook failed, for people; empty if it succeeded or the time was over
     * @throws InterruptedException also if the hook failed after {@link #close}: its connection was closed, so it has not
     *     failed by itself
     */
    Optional<String> run(LifecycleHandler hook, HookTarget target, Duration timeout) throws InterruptedException {
        CompletableFuture<?> running = start(hook, target);
        try {
            if (timekeeper.await(running, timeout)) {
                running.join();
            }
            return Optional.empty();
        } catch (CompletionException e) {
            if (closed) {
                throw new InterruptedException("the agent is closed");
            }
            Throwable cause = e.getCause() == null ? e : e.getCause();
            return Optional.of("lifecycle hook of container "
                    + target.container().getName() + " failed: " + PodContainers.text(cause));
        } finally {
            running.cancel(true);
        }
    }

    /** From now on no hook fails. Idempotent. */
    void close() {
        closed = true;
    }

    /** Starts a hook. Canceling the result ends it. */
    private CompletableFuture<?> start(LifecycleHandler hook, HookTarget target) {
        if (hook.getExec() != null) {
            return command(hook.getExec().getCommand(), target);
        }
        if (hook.getHttpGet() != null) {
            String podIp = target.podIps().isEmpty() ? "" : target.podIps().get(0);
            return new HookRequest(hook.getHttpGet(), target.pod(), target.container(), podIp)
                    .send(network.orElseThrow());
        }
        if (hook.getSleep() != null) {
            @Nullable Long seconds = hook.getSleep().getSeconds();
            // as in Go, a number that is missing is 0
            return seconds == null
                    ? CompletableFuture.completedFuture(Duration.ZERO)
                    : sleep(Durations.ofSeconds(seconds));
        }
        return CompletableFuture.failedFuture(new IllegalArgumentException(
                "the hook has none of exec, httpGet and sleep; tcpSocket is not supported"));
    }

    private CompletableFuture<?> command(List<String> command, HookTarget target) {
        CompletableFuture<CommandResult> run =
                exec.exec(PodReferences.key(target.pod()), target.container().getName(), command, Duration.ZERO);
        CompletableFuture<Void> checked = run.thenAccept(result -> {
            if (result.exitCode() != 0) {
                throw new CompletionException(new IOException("command exited with " + result.exitCode()));
            }
        });
        checked.whenComplete((ended, failure) -> run.cancel(true));
        return checked;
    }

    private CompletableFuture<?> sleep(Duration time) {
        CompletableFuture<Duration> slept = new CompletableFuture<>();
        Timekeeper.Scheduled timer = timekeeper.schedule(time, () -> slept.complete(time));
        slept.whenComplete((ended, failure) -> timer.cancel());
        return slept;
    }
}
