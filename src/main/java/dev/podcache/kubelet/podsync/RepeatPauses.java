package dev.podcache.kubelet.podsync;

import com.google.common.collect.Comparators;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.ContainerStateWaiting;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The pauses before what has failed for the containers of one pod is tried again: 10 s after the first failure, then twice as long
 * each time, at most 5 minutes. Not thread-safe.
 *
 * <p>Follows client-go's {@code flowcontrol.Backoff} as the kubelet uses it for images.
 */
final class RepeatPauses {

    private static final Duration FIRST = Duration.ofSeconds(10);
    private static final Duration LONGEST = Duration.ofMinutes(5);

    private final Map<String, Failed> failed = new HashMap<>();
    private final Timekeeper timekeeper;

    /**
     * What has failed.
     *
     * @param attempt what was tried; another attempt need not pause
     * @param reason why the container waits
     * @param event the warning about it
     */
    record Failed(Object attempt, ContainerStateWaiting reason, PodEvent event, Duration pause, long sinceNanos) {}

    RepeatPauses(Timekeeper timekeeper) {
        this.timekeeper = timekeeper;
    }

    /** Returns the failure after which {@code key} has to pause; null if it need not. */
    @Nullable
    Failed pausing(String key) {
        Failed last = failed.get(key);
        return last == null || left(last).isZero() ? null : last;
    }

    /** Returns how long a failure still has to pause; zero if it need not. */
    Duration left(Failed last) {
        Duration left = last.pause.minusNanos(timekeeper.nanoTime() - last.sinceNanos);
        return left.isNegative() ? Duration.ZERO : left;
    }

    /** Begins the pause after a failure, and returns its length. */
    Duration failed(String key, Object attempt, ContainerStateWaiting reason, PodEvent event) {
        Failed before = failed.get(key);
        Duration pause = before != null && isRepeated(before, attempt)
                ? Comparators.min(before.pause.multipliedBy(2), LONGEST)
                : FIRST;
        failed.put(key, new Failed(attempt, reason, event, pause, timekeeper.nanoTime()));
        return pause;
    }

    /** As in client-go, a failure long after the one before starts over. */
    private boolean isRepeated(Failed before, Object attempt) {
        return before.attempt.equals(attempt)
                && timekeeper.nanoTime() - before.sinceNanos
                        <= LONGEST.multipliedBy(2).toNanos();
    }

    void succeeded(String key) {
        failed.remove(key);
    }
}
