package dev.podcache.controlplane.nodelifecycle;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Retries;
import dev.podcache.controlplane.cluster.ClusterWrites;
import dev.podcache.controlplane.cluster.ControllerLoop;
import dev.podcache.controlplane.cluster.ObservedPod;
import dev.podcache.controlplane.cluster.RequestSlots;
import dev.podcache.object.FailureReason;
import dev.podcache.time.ApiTime;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodConditionBuilder;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says in the status of a pod that it is disrupted, and deletes it with its grace period. Used by tasks of one loop only.
 */
final class PodDeletion {

    private static final Logger log = LoggerFactory.getLogger(NodeLifecycleController.class);
    private static final int REQUESTS = 8;
    private static final Retries RETRIES = new Retries(Duration.ofMillis(10), Duration.ofSeconds(30));
    private static final double NO_JITTER = 0;

    private final ControllerLoop loop;
    private final ClusterWrites writes;
    private final RequestSlots slots;

    PodDeletion(ControllerLoop loop, ClusterWrites writes) {
        this.loop = loop;
        this.writes = writes;
        this.slots = new RequestSlots(loop, REQUESTS);
    }

    /**
     * Deletes a pod, and repeats that until it succeeds, or the pod does not exist any more. A conflict is repeated, too:
     * if another pod has the name now, {@code wanted} says so as soon as the cache does.
     *
     * @param wanted asked before each request; returns false if the pod must not be deleted any more
     */
    void delete(ObservedPod pod, BooleanSupplier wanted) {
        attempt(pod, wanted, 1);
    }

    private void attempt(ObservedPod pod, BooleanSupplier wanted, int tries) {
        if (!wanted.getAsBoolean()) {
            return;
        }
        CompletableFuture<?> marked = pod.isDisruptionTarget()
                ? CompletableFuture.completedFuture(null)
                : sendIf(wanted, () -> writes.patchCondition(pod, disruption()));
        CompletableFuture<?> deleted = marked.thenCompose(done -> sendIf(wanted, () -> writes.delete(pod)));
        loop.whenDone(deleted, (done, failure) -> {
            if (failure == null || ApiServerException.reasonOf(failure) == FailureReason.NOT_FOUND) {
                return;
            }
            Duration pause = RETRIES.pause(tries, NO_JITTER, failure);
            log.warn(
                    "pod {} could not be deleted: {}; retrying in {} ms",
                    pod.key(),
                    ApiServerException.describe(failure),
                    pause.toMillis());
            loop.schedule(pause, () -> attempt(pod, wanted, tries + 1));
        });
    }

    /** Sends a request when a slot is free, unless it is not wanted any more by then. */
    private CompletableFuture<?> sendIf(BooleanSupplier wanted, Supplier<CompletableFuture<Pod>> request) {
        return slots.send(() -> wanted.getAsBoolean() ? request.get() : CompletableFuture.completedFuture(null));
    }

    private PodCondition disruption() {
        return new PodConditionBuilder()
                .withType("DisruptionTarget")
                .withStatus("True")
                .withReason("DeletionByTaintManager")
                .withMessage("Taint manager: deleting due to NoExecute taint")
                .withLastTransitionTime(ApiTime.of(loop.timekeeper().wallTime()))
                .build();
    }
}
