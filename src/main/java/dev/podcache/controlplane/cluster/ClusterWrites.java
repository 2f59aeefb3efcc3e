package dev.podcache.controlplane.cluster;

import dev.podcache.apiserver.ObjectApi;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * The requests of the controllers. {@link #to} sends them to an API server; a simulation implements them in memory, and
 * may complete the futures before it returns them.
 *
 * <p>Every call is one request, without a retry. It returns at once and never throws. The future completes within a
 * bounded time, with the object after the write or exceptionally with an {@link
 * dev.podcache.apiserver.ApiServerException}: {@link dev.podcache.object.FailureReason#CONFLICT} if the object has
 * another version or UID than the call names, {@link dev.podcache.object.FailureReason#NOT_FOUND} if it does not exist.
 */
public interface ClusterWrites {

    /** Returns the writes that are sent to an API server, for controllers that trust what they watch of Leases. */
    static ClusterWrites to(ObjectApi<Node> nodes, ObjectApi<Pod> pods) {
        return new ApiClusterWrites(nodes, pods, null);
    }

    /** Returns the requests that are sent to an API server. */
    static ClusterWrites to(ObjectApi<Node> nodes, ObjectApi<Pod> pods, ObjectApi<Lease> leases) {
        return new ApiClusterWrites(nodes, pods, leases);
    }

    /**
     * Reads when a node has last renewed its Lease, in microseconds since 1970; {@link ClusterCache#NEVER} if it has none, or
     * if Leases are not read here.
     */
    default CompletableFuture<Long> renewTime(String node) {
        return CompletableFuture.completedFuture(ClusterCache.NEVER);
    }

    /** Reads the latest committed state of a Node. */
    CompletableFuture<Node> getNode(String name);

    /**
     * Adds or replaces conditions of a Node's status, provided that the Node still has the version of {@code node}.
     *
     * @param changed complete conditions; those of other types stay
     */
    CompletableFuture<Node> patchConditions(ObservedNode node, List<NodeCondition> changed);

    /**
     * Replaces all taints of a Node, provided that the Node still has the version of {@code node}.
     *
     * @param taints all taints that the Node is to have
     */
    CompletableFuture<Node> patchTaints(ObservedNode node, List<Taint> taints);

    /** Sets one annotation of a Node, whatever its version. */
    CompletableFuture<Node> annotate(String node, String annotation, String value);

    /** Adds or replaces a condition of a pod's status, provided that the pod still has the UID of {@code pod}. */
    CompletableFuture<Pod> patchCondition(ObservedPod pod, PodCondition condition);

    /**
     * Deletes a pod with the grace period of its spec, provided that it still has the UID of {@code pod}. A pod on a
     * node gets a deletion timestamp only: its agent removes it.
     */
    CompletableFuture<Pod> delete(ObservedPod pod);
}
