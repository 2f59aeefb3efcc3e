package dev.podcache.controlplane.nodelifecycle;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.controlplane.cluster.ClusterWrites;
import dev.podcache.controlplane.cluster.ControllerLoop;
import dev.podcache.controlplane.cluster.ObservedNode;
import dev.podcache.controlplane.cluster.RequestSlots;
import dev.podcache.object.FailureReason;
import io.fabric8.kubernetes.api.model.Taint;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the taints of Nodes. If a Node has changed since it was read, it is read again and the change is decided again,
 * up to five times. Used by tasks of one loop only.
 */
final class TaintWriter {

    private static final Logger log = LoggerFactory.getLogger(NodeLifecycleController.class);
    private static final int TRIES = 5;
    private static final int REQUESTS = 8;
    private static final Duration PAUSE = Duration.ofMillis(100);

    private final ControllerLoop loop;
    private final ClusterWrites writes;
    private final RequestSlots slots;

    TaintWriter(ControllerLoop loop, ClusterWrites writes) {
        this.loop = loop;
        this.writes = writes;
        this.slots = new RequestSlots(loop, REQUESTS);
    }

    /** Decides which taints a Node must have. */
    @FunctionalInterface
    interface Edit {

        /** Returns all taints that {@code node} must have; those that it has if nothing is to change. */
        List<Taint> of(ObservedNode node);
    }

    /**
     * Makes the taints of a Node those of an edit.
     *
     * @param node as last seen
     * @return whether the Node has them, or does not exist any more; completed by a task of the loop
     */
    CompletableFuture<Boolean> write(ObservedNode node, Edit edit) {
        return write(node, edit, 1);
    }

    private CompletableFuture<Boolean> write(ObservedNode node, Edit edit, int tries) {
        List<Taint> taints = edit.of(node);
        if (taints.equals(node.taints())) {
            return CompletableFuture.completedFuture(true);
        }
        return slots.send(() -> writes.patchTaints(node, taints))
                .thenApply(written -> true)
                .exceptionallyCompose(failure -> failed(node, edit, tries, failure));
    }

    private CompletableFuture<Boolean> failed(ObservedNode node, Edit edit, int tries, @Nullable Throwable failure) {
        FailureReason reason = ApiServerException.reasonOf(failure);
        if (reason == FailureReason.NOT_FOUND) {
            return CompletableFuture.completedFuture(true);
        }
        if (reason == FailureReason.CONFLICT && tries < TRIES) {
            return loop.after(PAUSE.multipliedBy(tries - 1L))
                    .thenCompose(over -> slots.send(() -> writes.getNode(node.name())))
                    .thenCompose(read -> write(ObservedNode.of(read), edit, tries + 1));
        }
        log.warn(
                "the taints of Node {} could not be written: {}; the next pass decides again",
                node.name(),
                ApiServerException.describe(failure));
        return CompletableFuture.completedFuture(false);
    }
}
