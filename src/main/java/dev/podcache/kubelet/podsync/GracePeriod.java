package dev.podcache.kubelet.podsync;

import dev.podcache.kubelet.eviction.Eviction;
import dev.podcache.time.Durations;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.Optional;

/** Computes the grace period of a pod. Pure functions. */
final class GracePeriod {

    private static final Duration DEFAULT = Duration.ofSeconds(30);
    private static final Duration LEAST = Duration.ofSeconds(1);

    private GracePeriod() {}

    /** Returns the grace period of a pod: at most that of its eviction, at least one second. */
    static Duration of(Pod pod, Optional<Eviction> eviction) {
        Duration own = of(pod);
        Duration most = eviction.map(Eviction::gracePeriod).orElse(own);
        if (most.compareTo(own) >= 0) {
            return own;
        }
        return most.compareTo(LEAST) < 0 ? LEAST : most;
    }

    /** Returns the grace period of a pod, at least one second, because this node can confirm that it has stopped. */
    static Duration of(Pod pod) {
        Long deletion = pod.getMetadata().getDeletionGracePeriodSeconds();
        Long specified = pod.getSpec() == null ? null : pod.getSpec().getTerminationGracePeriodSeconds();
        Long seconds = deletion != null ? deletion : specified;
        Duration grace = seconds == null ? DEFAULT : Durations.ofSeconds(seconds);
        return grace.compareTo(LEAST) < 0 ? LEAST : grace;
    }
}
