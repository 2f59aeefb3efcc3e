package dev.podcache.reflector;

import dev.podcache.time.Backoff;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Whether the server is unreachable, and when the next reflector may try. Guarded by its {@link Recovery}. */
final class Outage {

    private static final int UNANSWERED_IN_A_ROW = 3;
    private static final Duration PERIOD = Duration.ofMillis(500);
    private static final Duration OFTEN_FOR = Duration.ofMinutes(1);
    private static final Backoff LATER = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(10));

    /** How long a probe that is not answered keeps others from trying. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final Set<PendingAttempt> unanswered = new HashSet<>(); // since the last answer
    private int unansweredInARow;
    private boolean lasts;
    private long since;
    private @Nullable PendingAttempt prober;
    private long probeBegan;
    private long nextProbe;
    private int lateProbes;

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
            lateProbes = 0;
            nextProbe = now + PERIOD.toNanos();
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
            nextProbe = probeBegan + period(random).toNanos();
        }
    }

    private Duration period(double random) {
        if (probeBegan - since < OFTEN_FOR.toNanos()) {
            return PERIOD;
        }
        lateProbes++;
        return LATER.pause(lateProbes, random);
    }
}
