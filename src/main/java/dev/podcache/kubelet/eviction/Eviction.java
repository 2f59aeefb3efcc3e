package dev.podcache.kubelet.eviction;

import com.google.common.collect.ImmutableMap;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;

/**
 * The decision to evict a pod. Immutable.
 *
 * @param pod must not be modified
 * @param signal the name of the threshold or limit that is the reason, such as {@code memory.available}; for metrics
 * @param message for the pod's status and the event
 * @param annotations of the event
 * @param gracePeriod the longest time that the containers have to end by themselves
 * @param forPressure whether the node needs the resource, so that the pod gets the condition {@code DisruptionTarget}; if
 *     not, the pod exceeded a limit of its own
 */
public record Eviction(
        Pod pod,
        String signal,
        String message,
        ImmutableMap<String, String> annotations,
        Duration gracePeriod,
        boolean forPressure) {

    /** The reason in the pod's status and of the event. */
    public static final String REASON = "Evicted";

    /** The grace period of a pod that is to end at once. */
    static final Duration IMMEDIATE = Duration.ofSeconds(1);

    /** @param signal the name that the kubelet gives to the limit */
    static Eviction overLimit(Pod pod, String signal, String message) {
        return new Eviction(pod, signal, message, ImmutableMap.of(), IMMEDIATE, false);
    }
}
