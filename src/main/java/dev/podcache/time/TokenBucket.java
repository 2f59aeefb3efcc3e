package dev.podcache.time;

import com.google.common.math.LongMath;
import java.time.Duration;
import java.util.Optional;

/**
 * A token bucket that starts full: {@code burst} tokens at once, then {@code perSecond} in the long run. Never blocks,
 * but returns how long the caller must wait. Tokens are granted in the order of the calls. Thread-safe.
 */
public final class TokenBucket {

    /*
     * The state is one number, the time at which the bucket is full again without further calls. Each token moves it
     * forward by one interval. A token is available while it is at most `burst` intervals ahead of now.
     */

    private final Timekeeper timekeeper;
    private final long interval;
    private final long burstNanos;
    private long fullAt; // guarded by this

    /**
     * Makes a full bucket.
     *
     * @param perSecond positive
     * @param burst at least 1
     */
    public TokenBucket(double perSecond, int burst, Timekeeper timekeeper) {
        this.timekeeper = timekeeper;
        this.interval = Math.max(1, Math.round(1e9 / perSecond));
        this.burstNanos = LongMath.saturatedMultiply(interval, burst - 1);
        this.fullAt = timekeeper.nanoTime();
    }

    /**
     * Takes a token, or leaves the bucket unchanged if the wait would be too long.
     *
     * @param patience how long the caller can wait; zero for not at all
     * @return how long the caller must wait before it uses the token; empty if that is {@code patience} or longer
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

    /** Returns the time until the next token is available; zero if one is available now. */
    public synchronized Duration untilNext() {
        return Duration.ofNanos(waitFrom(timekeeper.nanoTime()));
    }

    private long waitFrom(long now) {
        return Math.max(0, base(now) - now - burstNanos);
    }

    private long base(long now) {
        return fullAt - now > 0 ? fullAt : now;
    }
}
