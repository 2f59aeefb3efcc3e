package dev.podcache.reflector;

import dev.podcache.time.Backoff;
import dev.podcache.time.OutageBackoff;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Whether the server serves nobody, and when the next reflector may try. Guarded by its {@link Recovery}.
 *
 * <p>It serves nobody when it cannot be reached, or when it asks for time (Retry-After). The pauses between attempts are
 * those of {@link OutageBackoff}, or as long as the server asked and a random time longer: up to 2 s, and each time that
 * it asks again up to twice as long, until 30 s.
 */
final class Outage {

    private static final int IN_A_ROW = 3;
    private static final long SHORTEST = Duration.ofMillis(500).toNanos();
    private static final Backoff LONGER = new Backoff(Duration.ofSeconds(2), Duration.ofSeconds(30));

    /** How long after a pause that the server asked for another one counts as its continuation. */
    private static final long REMEMBERED = Duration.ofMinutes(1).toNanos();

    /** How long a probe that is not answered keeps others from trying. */
    private static final long PATIENCE = Duration.ofSeconds(5).toNanos();

    private final Set<PendingAttempt> unserved = new HashSet<>(); // since the last that was served
    private int unservedInARow;
    private boolean lasts;
    private boolean askedForTime; // the server, since the outage began
    private long since;
    private @Nullable PendingAttempt prober;
    private long probeBegan;
    private long nextProbe;
    private final OutageBackoff backoff = new OutageBackoff();
    private int longer; // pauses that the server asked for, one after the other
    private long longerUntil;

    boolean lasts() {
        return lasts;
    }

    /** Nobody answered an attempt. */
    void unanswered(PendingAttempt attempt, long reflectors, long now, double random) {
        probeEnded(attempt, random);
        if (begins(attempt, reflectors, now)) {
            nextProbe = now + backoff.pause(Duration.ZERO, random).toNanos();
        }
    }

    /** The server asked to repeat an attempt after a pause. */
    void refused(PendingAttempt attempt, long reflectors, Duration asked, long now, double random) {
        boolean begins = begins(attempt, reflectors, now);
        if (begins || attempt == prober) {
            prober = null;
            longer = now - longerUntil < REMEMBERED && longer > 0 ? longer + 1 : 1;
            long more = (long) (random * LONGER.pause(longer, 0).toNanos());
            longerUntil = now + Math.max(SHORTEST, asked.toNanos()) + more;
            nextProbe = longerUntil;
        } else if (lasts) {
            // one of several that were under way when the outage began
            nextProbe = Math.max(nextProbe, now + asked.toNanos());
        }
        askedForTime = lasts;
    }

    /**
     * The server served an attempt; whether that ends an outage. While the server asks for time, only a probe ends it:
     * what was under way before may still be served.
     */
    boolean served(PendingAttempt attempt) {
        unservedInARow = 0;
        unserved.clear();
        boolean ends = lasts && (!askedForTime || attempt == prober);
        if (ends) {
            lasts = false;
            askedForTime = false;
            prober = null;
        }
        return ends;
    }

    /** The reflector is closed. */
    void left(PendingAttempt attempt, double random) {
        unserved.remove(attempt);
        probeEnded(attempt, random);
    }

    /** How long until the next attempt may be made; at most 0 if it may be made now. */
    long untilProbe(long now) {
        return nextProbe - now;
    }

    void probes(PendingAttempt attempt, long now) {
        prober = attempt;
        probeBegan = now;
        nextProbe = now + PATIENCE;
    }

    /** Counts an attempt that was not served; whether an outage begins with it. */
    private boolean begins(PendingAttempt attempt, long reflectors, long now) {
        unserved.add(attempt);
        unservedInARow++;
        if (lasts || unservedInARow < IN_A_ROW || unserved.size() < Math.min(IN_A_ROW, reflectors)) {
            return false;
        }
        lasts = true;
        since = now;
        backoff.reset();
        return true;
    }

    private void probeEnded(PendingAttempt attempt, double random) {
        if (prober == attempt) {
            prober = null;
            Duration away = Duration.ofNanos(probeBegan - since);
            nextProbe = probeBegan + backoff.pause(away, random).toNanos();
        }
    }
}
