package dev.podcache.reflector;

import dev.podcache.time.OutageBackoff;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Whether the server is unreachable, and when the next reflector may try. Guarded by its {@link Recovery}. */
final class Outage {

    private static final int UNANSWERED_IN_A_ROW = 3;

    /** How long a probe that is not answered keeps others from trying. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final Set<PendingAttempt> unanswered = new HashSet<>(); // since the last answer
    private int unansweredInARow;
    private boolean lasts;
    private long since;
    private @Nullable PendingAttempt prober;
    private long probeBegan;
    private long nextProbe;
    private final OutageBackoff backoff = new OutageBackoff();

    boolean lasts() {
        return lasts;
    }

    /** Nobody answered an attempt. */
    void unanswered(PendingAttempt attempt, long reflectors, long now, double random) {
        unanswered.add(attempt);
        unansweredInARow++;
        probeEnded(attempt, random);
        if (!lasts
                && unansweredInARow >= UNANSWERED_IN_A_ROW
                && unanswered.size() >= Math.min(UNANSWERED_IN_A_ROW, reflectors)) {
            lasts = true;
            since = now;
            backoff.reset();
            nextProbe = now + backoff.pause(Duration.ZERO, random).toNanos();
        }
    }

    /** The server answered; whether that ends an outage. */
    boolean answered() {
        boolean ends = lasts;
        lasts = false;
        prober = null;
        unansweredInARow = 0;
        unanswered.clear();
        return ends;
    }

    /** The reflector is closed. */
    void left(PendingAttempt attempt, double random) {
        unanswered.remove(attempt);
        probeEnded(attempt, random);
    }

    /** How long until the next attempt may be made; at most 0 if it may be made now. */
    long untilProbe(long now) {
        return nextProbe - now;
    }

    void probes(PendingAttempt attempt, long now) {
        prober = attempt;
        probeBegan = now;
        nextProbe = now + PATIENCE.toNanos();
    }

    private void probeEnded(PendingAttempt attempt, double random) {
        if (prober == attempt) {
            prober = null;
            Duration away = Duration.ofNanos(probeBegan - since);
            nextProbe = probeBegan + backoff.pause(away, random).toNanos();
        }
    }
}
