package dev.podcache.kubelet.eviction;

/**
 * Why a node does not run a pod that was assigned to it.
 *
 * @param reason for the pod's status and the event, such as {@code Evicted}
 * @param message for people
 */
public record PodRejection(String reason, String message) {}
