package dev.podcache.kubelet.podsync;

import dev.podcache.kubelet.events.EventRecorder.EventType;
import dev.podcache.kubelet.runtime.ImagePull;
import dev.podcache.kubelet.runtime.ImagePullException;
import dev.podcache.time.Durations;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStateWaiting;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/**
 * Gets the images of one pod's containers onto the machine before they start, if the runtime pulls images as a step of its own.
 * Not thread-safe.
 *
 * <p>Follows {@code EnsureImageExists} of the kubelet's {@code pkg/kubelet/images/image_manager.go}.
 */
final class ImagePulls {

    private static final String ALWAYS = "Always";
    private static final String NEVER = "Never";
    private static final String PULL_FAILED = "ErrImagePull";
    private static final String BACK_OFF = "ImagePullBackOff";
    private static final String NEVER_PULLED = "ErrImageNeverPull";
    private static final String INSPECT_FAILED = "ImageInspectError";

    private final WorkerParts parts;
    private final RuntimeCalls calls;
    private final RuntimeFailures failures;
    private final @Nullable ImagePull runtime;
    private final RepeatPauses pauses;

    ImagePulls(WorkerParts parts, RuntimeCalls calls, RuntimeFailures failures) {
        this.parts = parts;
        this.calls = calls;
        this.failures = failures;
        this.runtime = parts.runtime() instanceof ImagePull pull ? pull : null;
        this.pauses = new RepeatPauses(parts.timekeeper());
    }

    /** Tells that a container was started, whose image is there therefore. */
    void started(Pod pod, Container container) {
        if (runtime == null) {
            present(pod, container);
        }
    }

    private void present(Pod pod, Container container) {
        PodEvent.pulled(
                        pod,
                        container.getName(),
                        "Container image \"" + image(container)
                                + "\" already present on machine and can be accessed by the pod")
                .emit(pod, parts.events());
    }

    /**
     * Pulls the image of a container if that is necessary. Blocks as long as the runtime does.
     *
     * @return why the container has to wait; null if its image is there
     */
    @Nullable
    ContainerStateWaiting ensure(Pod pod, Container container, SyncResult sync) throws InterruptedException {
        ImagePull puller = runtime;
        if (puller == null) {
            return null;
        }
        String policy = policy(container);
        if (!policy.equals(ALWAYS)) {
            boolean isPresent;
            try {
                isPresent = calls.call(pod, "inspection of an image", () -> puller.isPresent(pod, container));
            } catch (IOException | RuntimeException | Error e) {
                return notInspected(pod, container, e, sync);
            }
            if (isPresent) {
                present(pod, container);
                return null;
            }
            if (policy.equals(NEVER)) {
                return neverPulled(pod, container, sync);
            }
        }
        RepeatPauses.Failed last = pauses.pausing(image(container));
        return last == null ? pull(puller, pod, container, sync) : backOff(last, pod, container, sync);
    }

    private ContainerStateWaiting notInspected(Pod pod, Container container, Throwable failure, SyncResult sync) {
        String message = "Failed to inspect image \"" + image(container) + "\": " + PodContainers.text(failure);
        failures.log(Level.WARN, "image of pod " + KnownPods.name(pod) + " was not inspected; retrying", failure);
        sync.warn(PodEvent.warning(pod, container.getName(), "InspectFailed", message));
        sync.failed(container.getName(), PodEvent.startFailed(pod, container.getName(), INSPECT_FAILED));
        return States.waiting(message, INSPECT_FAILED);
    }

    private static ContainerStateWaiting neverPulled(Pod pod, Container container, SyncResult sync) {
        String message = "Container image \"" + image(container) + "\" is not present with pull policy of Never";
        sync.warn(PodEvent.warning(pod, container.getName(), NEVER_PULLED, message));
        sync.failed(container.getName(), PodEvent.startFailed(pod, container.getName(), NEVER_PULLED));
        return States.waiting(message, NEVER_PULLED);
    }

    private ContainerStateWaiting backOff(RepeatPauses.Failed last, Pod pod, Container container, SyncResult sync) {
        String message = "Back-off pulling image \"" + image(container) + "\"";
        sync.warn(PodEvent.of(EventType.NORMAL, pod, container.getName(), "BackOff", message));
        sync.warn(PodEvent.startFailed(pod, container.getName(), BACK_OFF));
        sync.again(pauses.left(last));
        return States.waiting(
                message + ": " + PULL_FAILED + ": " + last.reason().getMessage(), BACK_OFF);
    }

    private @Nullable ContainerStateWaiting pull(ImagePull puller, Pod pod, Container container, SyncResult sync)
            throws InterruptedException {
        String name = container.getName();
        String image = image(container);
        PodEvent.of(EventType.NORMAL, pod, name, "Pulling", "Pulling image \"" + image + "\"")
                .emit(pod, parts.events());
        long begin = parts.timekeeper().nanoTime();
        try {
            calls.unlimited(() -> {
                List<Secret> secrets = parts.configuration().pullSecrets(pod);
                return pull(puller, pod, container, secrets);
            });
        } catch (PullFailure e) {
            PodContainers.throwIfInterrupted();
            calls.throwIfClosed();
            Throwable cause = Objects.requireNonNull(e.getCause());
            String message = PodContainers.text(cause);
            failures.log(Level.WARN, "image of pod " + KnownPods.name(pod) + " was not pulled; retrying", cause);
            PodEvent.warning(pod, name, "Failed", "Failed to pull image \"" + image + "\": " + message)
                    .emit(pod, parts.events());
            PodEvent failed = PodEvent.startFailed(pod, name, PULL_FAILED);
            ContainerStateWaiting reason = States.waiting(message, PULL_FAILED);
            sync.failed(name, failed);
            sync.again(pauses.failed(image, image, reason, failed));
            return reason;
        }
        pauses.succeeded(image);
        Duration took = Duration.ofNanos(parts.timekeeper().nanoTime() - begin);
        PodEvent.pulled(pod, name, "Successfully pulled image \"" + image + "\" in " + Durations.text(took))
                .emit(pod, parts.events());
        return null;
    }

    /** A pull that failed, because of the cause. */
    private static final class PullFailure extends RuntimeException {

        private static final long serialVersionUID = 1;

        PullFailure(Throwable cause) {
            super(cause);
        }
    }

    private Pod pull(ImagePull puller, Pod pod, Container container, List<Secret> secrets) throws InterruptedException {
        try {
            Optional<Duration> deadline = puller.deadline();
            if (deadline.isPresent()) {
                pullUntil(deadline.get(), puller, pod, container, secrets);
            } else {
                puller.pull(pod, container, secrets);
            }
            return pod;
        } catch (PullFailure e) {
            throw e;
        } catch (ImagePullException | RuntimeException | Error e) {
            throw new PullFailure(e);
        }
    }

    /** Pulls on another thread, which is interrupted at the deadline. */
    private void pullUntil(Duration deadline, ImagePull puller, Pod pod, Container container, List<Secret> secrets)
            throws ImagePullException, InterruptedException {
        CompletableFuture<Pod> ended = new CompletableFuture<>();
        Future<Pod> task = parts.threads().submit(() -> {
            try {
                puller.pull(pod, container, secrets);
                ended.complete(pod);
            } catch (Throwable failure) {
                ended.completeExceptionally(failure);
            }
            return pod;
        });
        try {
            if (!parts.timekeeper().await(ended, deadline)) {
                throw new ImagePullException("the pull has not ended within " + Durations.text(deadline));
            }
            ended.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof ImagePullException failed) {
                throw failed;
            }
            throw new PullFailure(Objects.requireNonNull(e.getCause()));
        } finally {
            task.cancel(true);
        }
    }

    private static String image(Container container) {
        return String.valueOf(container.getImage());
    }

    /** The API server sets a policy; a pod of a file may have none. */
    private static String policy(Container container) {
        String policy = container.getImagePullPolicy();
        if (policy != null && !policy.isEmpty()) {
            return policy;
        }
        String image = image(container);
        boolean isNamed = image.indexOf(':', image.lastIndexOf('/') + 1) >= 0 && !image.endsWith(":latest");
        return isNamed ? "IfNotPresent" : ALWAYS;
    }
}
