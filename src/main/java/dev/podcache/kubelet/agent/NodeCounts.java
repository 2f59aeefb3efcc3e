package dev.podcache.kubelet.agent;

import java.util.Map;

/**
 * What a {@link NodeAgent} has done since its creation, and what runs now. All counts are without names of objects.
 * Immutable. Outcomes are {@code succeeded} and the reasons of {@link dev.podcache.object.FailureReason} in lower case,
 * zeros too.
 *
 * @param leaseRenewals requests that create or renew the Lease, by outcome
 * @param nodeStatusUpdates requests that report the status of the Node, by outcome
 * @param podStatusPatches requests that report the status of a pod, by outcome
 * @param probes checks of containers, by probe ({@code Liveness}, {@code Readiness}, {@code Startup}) and result ({@code
 *     successful}, {@code failed}, {@code unknown})
 * @param evictions evicted pods, by the name of the threshold or limit, such as {@code memory.available};
 *     zeros too
 * @param runningPods pods of which a container runs
 * @param runningContainers containers of the node's pods that run, init containers included
 * @param exitedContainers containers of the node's pods that have ended
 */
public record NodeCounts(
        Map<String, Long> leaseRenewals,
        Map<String, Long> nodeStatusUpdates,
        Map<String, Long> podStatusPatches,
        Map<String, Map<String, Long>> probes,
        Map<String, Long> evictions,
        int runningPods,
        int runningContainers,
        int exitedContainers) {}
