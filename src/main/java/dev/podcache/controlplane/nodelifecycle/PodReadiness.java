package dev.podcache.controlplane.nodelifecycle;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.controlplane.cluster.ClusterWrites;
import dev.podcache.controlplane.cluster.ControllerLoop;
import dev.podcache.controlplane.cluster.ObservedPod;
import dev.podcache.controlplane.cluster.RequestSlots;
import dev.podcache.object.FailureReason;
import dev.podcache.time.ApiTime;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodConditionBuilder;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sets the condition Ready of pods to False, so that they leave the endpoints of their Services. Used by tasks of one
 * loop only.
 */
final class PodReadiness {

    private static final Logger log = LoggerFactory.getLogger(NodeLifecycleController.class);
    private static final int REQUESTS = 8;

    private final ControllerLoop loop;
    private final ClusterWrites writes;
    private final LifecycleEvents events;
    private final RequestSlots slots;

    PodReadiness(ControllerLoop loop, ClusterWrites writes, LifecycleEvents events) {
        this.loop = loop;
        this.writes = writes;
        this.events = events;
        this.slots = new RequestSlots(loop, REQUESTS);
    }

    /**
     * Marks pods as not ready. Leaves pods that are not Ready, or have no condition Ready.
     *
     * @return whether all of them are marked or deleted; completed by a task of the loop
     */
    CompletableFuture<Boolean> markNotReady(Collection<ObservedPod> pods) {
        List<CompletableFuture<Boolean>> marks =
                pods.stream().filter(PodReadiness::mayBeReady).map(this::mark).toList();
        return CompletableFuture.allOf(marks.toArray(CompletableFuture<?>[]::new))
                .thenApply(all -> marks.stream().allMatch(CompletableFuture::join));
    }

    private static boolean mayBeReady(ObservedPod pod) {
        PodCondition ready = pod.ready();
        return ready != null && !"False".equals(ready.getStatus());
    }

    private CompletableFuture<Boolean> mark(ObservedPod pod) {
        // as upstream, the reason and the message stay
        PodCondition notReady = new PodConditionBuilder(pod.ready())
                .withStatus("False")
                .withLastTransitionTime(ApiTime.of(loop.timekeeper().wallTime()))
                .build();
        return slots.send(() -> writes.patchCondition(pod, notReady)).handle((written, failure) -> {
            if (failure == null) {
                events.notReady(pod);
                return true;
            }
            // after a conflict the caller asks the cache again, which knows whether another pod has the name now
            boolean gone = ApiServerException.reasonOf(failure) == FailureReason.NOT_FOUND;
            if (!gone) {
                log.warn(
                        "pod {} could not be marked as not ready: {}; retrying",
                        pod.key(),
                        ApiServerException.describe(failure));
            }
            return gone;
        });
    }
}
