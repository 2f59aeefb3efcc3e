package dev.podcache.kubelet.podsync;

import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;

/** Computes the grace period of a pod. Pure functions. */
final class GracePeriod {

    private static final Duration DEFAULT = Duration.ofSeconds(30);
    private static final Duration LEAST = Duration.ofSeconds(1);

    private GracePeriod() {}

    /** Returns the grace period of a pod, at least one second, because this node can confirm that it has stopped. */
    static Duration of(Pod pod) {
        Long deletion = pod.getMetadata().getDeletionGracePeriodSeconds();
        Long specified = pod.getSpec() == null ? null : pod.getSpec().getTerminationGracePeriodSeconds();
        Long seconds = deletion != null ? deletion : specified;
        Duration grace = seconds == null ? DEFAULT : Duration.ofSeconds(seconds);
        return grace.compareTo(LEAST) < 0 ? LEAST : grace;
    }
}
