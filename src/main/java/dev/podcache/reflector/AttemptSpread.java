package dev.podcache.reflector;

import java.time.Duration;

/** Spreads the attempts of reflectors that failed together, so that they do not return together. */
public final class AttemptSpread {

    private static final long PER_REFLECTOR = Duration.ofMillis(5).toNanos();
    private static final long LONGEST = Duration.ofMillis(1_800).toNanos();

    private AttemptSpread() {}

    /** Returns the time over which the attempts of so many reflectors are spread at random. */
    public static Duration of(int together) {
        return Duration.ofNanos(Math.min(LONGEST, PER_REFLECTOR * Math.max(0, together - 1)));
    }
}
