package dev.podcache.controlplane.cluster;

import org.jspecify.annotations.Nullable;

/**
 * Is told of each change in a {@link ClusterCache}, after the cache has it. The calls are tasks of the cache's loop, and
 * must not block. Every method does nothing by default.
 */
public interface ClusterListener {

    /** A Node was created, or was seen for the first time. */
    default void nodeAdded(ObservedNode node) {}

    /** A Node has changed, or was reported again. */
    default void nodeChanged(ObservedNode before, ObservedNode now) {}

    /** A Node was deleted. */
    default void nodeDeleted(ObservedNode last) {}

    /**
     * A node has renewed its Lease, or the Lease was reported again. The Node may not be known yet.
     *
     * @param renewTime as the Lease says, in microseconds since 1970
     */
    default void leaseRenewed(String node, long renewTime) {}

    /**
     * A pod was created, has changed, or was reported again.
     *
     * @param before null if it was not known
     */
    default void podChanged(@Nullable ObservedPod before, ObservedPod now) {}

    /** A pod was deleted. */
    default void podDeleted(ObservedPod last) {}
}
