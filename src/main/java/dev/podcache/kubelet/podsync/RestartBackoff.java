package dev.podcache.kubelet.podsync;

import com.google.common.collect.Comparators;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The back-off between restarts of the containers of one pod. The first restart is immediate. Each further restart waits
 * from the end of the container: 10 s, then twice as long each time, at most the node's {@code
 * crashLoopBackOff.maxContainerRestartPeriod}. A container that ended later than 10 minutes after its last restart starts
 * over, whatever that period is. A changed image starts over, too. Not thread-safe.
 *
 * <p>Follows {@code newCrashLoopBackOff} of {@code pkg/kubelet/kubelet.go}, {@code doBackOff} of {@code
 * pkg/kubelet/kuberuntime} and client-go's {@code flowcontrol.Backoff}.
 */
final class RestartBackoff {

    private static final Duration FIRST = Duration.ofSeconds(10);
    private static final Duration STABLE = Duration.ofMinutes(10);

    private final Duration first;
    private final Duration longest;
    private final Map<String, Restart> entries = new HashMap<>();

    private record Restart(String image, Duration pause, Instant restarted) {}

    /** @param longest the longest pause; if it is shorter than 10 s, every pause is that long */
    RestartBackoff(Duration longest) {
        this.longest = longest;
        this.first = Comparators.min(FIRST, longest);
    }

    /**
     * Returns how long the restart of a container still has to wait; zero if it may start now.
     *
     * @param ended when the container ended
     */
    Duration remaining(String container, String image, Instant ended, Instant now) {
        Restart entry = current(container, image, ended);
        if (entry == null) {
            return Duration.ZERO;
        }
        // the runtime's time of the end may be any, so it is not added to, and neither lengthens nor shortens a pause;
        // and
        // the clock of this machine may have been set back since the restart
        Instant from = entry.restarted.isAfter(now) ? ended : Comparators.max(ended, entry.restarted);
        Duration left = Duration.between(now, from).plus(entry.pause);
        return left.isNegative() ? Duration.ZERO : Comparators.min(left, entry.pause);
    }

    /** Returns the whole pause before the next restart of a container; zero if it may start at once. */
    Duration pause(String container, String image, Instant ended) {
        Restart entry = current(container, image, ended);
        return entry == null ? Duration.ZERO : entry.pause;
    }

    /** Records a restart. */
    void restarted(String container, String image, Instant ended, Instant now) {
        Restart before = current(container, image, ended);
        Duration pause = before == null ? first : longer(before.pause);
        entries.put(container, new Restart(image, pause, now));
    }

    private @Nullable Restart current(String container, String image, Instant ended) {
        Restart entry = entries.get(container);
        if (entry == null || !entry.image.equals(image)) {
            return null;
        }
        return ended.isAfter(entry.restarted.plus(STABLE)) ? null : entry;
    }

    private Duration longer(Duration pause) {
        return Comparators.min(pause.multipliedBy(2), longest);
    }
}
