package dev.podcache.apiserver.fabric8;

import com.google.common.math.LongMath;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.Optional;

/**
 * A token bucket that starts full: {@code burst} requests at once, then {@code perSecond} in the long run. Never
 * blocks; it says how long to wait. Tokens are given in the order of asking. Thread-safe.
 *
 * <p>Kept as one number, the time at which the bucket would be full again if nobody asked any more: each token moves it
 * one interval on, and a token is there when it is at most {@code burst} intervals ahead.
 */
final class QpsLimiter {

    private final Timekeeper timekeeper;
    private final long interval;
    private final long reserve;
    private long fullAt; // guarded by this

    QpsLimiter(RequestLimit limit, Timekeeper timekeeper) {
        this.timekeeper = timekeeper;
        this.interval = Math.max(1, Math.round(1e9 / limit.perSecond()));
        this.reserve = LongMath.saturatedMultiply(interval, limit.burst() - 1);
        this.fullAt = timekeeper.nanoTime();
    }

    /**
     * Takes a token, unless it would come too late; then the bucket stays as it is.
     *
     * @param patience how long the caller can wait for it
     * @return how long the caller must wait before it uses the token, or empty if that is {@code patience} or longer
     */
    synchronized Optional<Duration> take(Duration patience) {
        long now = timekeeper.nanoTime();
        long base = fullAt - now > 0 ? fullAt : now;
        long wait = Math.max(0, base - now - reserve);
        if (wait > 0 && Duration.ofNanos(wait).compareTo(patience) >= 0) {
            return Optional.empty();
        }
        fullAt = base + interval;
        return Optional.of(Duration.ofNanos(wait));
    }
}
