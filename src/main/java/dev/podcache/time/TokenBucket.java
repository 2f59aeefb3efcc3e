package dev.podcache.time;

import com.google.common.math.LongMath;
import java.time.Duration;
import java.util.Optional;

/**
 * A token bucket that starts full: {@code burst} tokens at once, then {@code perSecond} in the long run. Never blocks;
 * it says how long to wait. Tokens are given in the order of asking. Thread-safe.
 */
public final class TokenBucket {

    /*
     * Kept as one number, the time at which the bucket would be full again if nobody asked any more: each token moves
     * it one interval on, and a token is there when it is at most `burst` intervals ahead.
     */

    private final Timekeeper timekeeper;
    private final long interval;
    private final long reserve;
    private long fullAt; // guarded by this

    /**
     * A full bucket.
     *
     * @param perSecond positive
     * @param burst at least 1
     */
    public TokenBucket(double perSecond, int burst, Timekeeper timekeeper) {
        this.timekeeper = timekeeper;
        this.interval = Math.max(1, Math.round(1e9 / perSecond));
        this.reserve = LongMath.saturatedMultiply(interval, burst - 1);
        this.fullAt = timekeeper.nanoTime();
    }

    /**
     * Takes a token, unless it would come too late; then the bucket stays as it is.
     *
     * @param patience how long the caller can wait for it; zero for not at all
     * @return how long the caller must wait before it uses the token, or empty if that is {@code patience} or longer
     */
    public synchronized Optional<Duration> take(Duration patience) {
        long now = timekeeper.nanoTime();
        long wait = waitFrom(now);
        if (wait > 0 && Duration.ofNanos(wait).compareTo(patience) >= 0) {
            return Optional.empty();
        }
        fullAt = base(now) + interval;
        return Optional.of(Duration.ofNanos(wait));
    }

    /** Returns how long it takes until there is a token; zero if there is one. */
    public synchronized Duration untilNext() {
        return Duration.ofNanos(waitFrom(timekeeper.nanoTime()));
    }

    private long waitFrom(long now) {
        return Math.max(0, base(now) - now - reserve);
    }

    private long base(long now) {
        return fullAt - now > 0 ? fullAt : now;
    }
}
