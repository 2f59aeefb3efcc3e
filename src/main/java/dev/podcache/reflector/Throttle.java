package dev.podcache.reflector;

import dev.podcache.time.Backoff;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;

/**
 * Whether the server told reflectors to come later, and how many attempts it may be sent at a time until it serves them
 * again. Guarded by its {@link Recovery}.
 *
 * <p>After three such answers in a row, of three reflectors unless there are fewer, no attempt is made for as long as the
 * server asked and a random time longer: up to 2 s, twice as long each time that it goes on, up to 30 s. Then one attempt
 * is made, and each that is served allows one more at a time, so that their number doubles with each round trip. After an outage
 * it is the same, without the pause.
 */
final class Throttle {

    private static final int IN_A_ROW = 3;
    private static final Backoff LONGER = new Backoff(Duration.ofSeconds(2), Duration.ofSeconds(30));

    /** For how long the beginning of the next one is taken for the same one, going on. */
    private static final long REMEMBERED = Duration.ofMinutes(1).toNanos();

    /** How long attempts that are not answered keep others from trying. */
    private static final long PATIENCE = Duration.ofSeconds(5).toNanos();

    private final Set<PendingAttempt> refused = new HashSet<>(); // since the last that was served
    private final Set<PendingAttempt> underWay = new HashSet<>();
    private int refusedInARow;
    private boolean lasts;
    private int pauses;
    private long until;
    private long lastMade;
    private long allowed;

    boolean lasts() {
        return lasts;
    }

    /** The server told {@code attempt} to come later: after {@code pause}. */
    void refused(PendingAttempt attempt, long reflectors, Duration pause, long now, double random) {
        ended(attempt);
        refused.add(attempt);
        refusedInARow++;
        boolean many =
                refusedInARow >= Math.min(IN_A_ROW, reflectors) && refused.size() >= Math.min(IN_A_ROW, reflectors);
        if (lasts && until - now > 0) {
            // one of several that were under way when the first of them was refused
            until = Math.max(until, now + pause.toNanos());
        } else if (lasts || many) {
            pauses = lasts || now - until < REMEMBERED ? pauses + 1 : 1;
            lasts = true;
            allowed = 1;
            until = now
                    + pause.toNanos()
                    + (long) (random * LONGER.pause(pauses, 0).toNanos());
        }
    }

    /** The server is back after an outage: it may have many others to serve as well. */
    void slowStart(long now) {
        lasts = true;
        pauses = 0;
        allowed = 2;
        until = now;
    }

    /** The server served {@code attempt}. */
    void served(PendingAttempt attempt, long reflectors, long now) {
        boolean counts = underWay.contains(attempt);
        ended(attempt);
        refusedInARow = 0;
        refused.clear();
        if (lasts && counts && until - now <= 0) {
            allowed++;
            lasts = allowed <= reflectors;
        }
    }

    /** {@code attempt} ended otherwise, or its reflector is closed. */
    void ended(PendingAttempt attempt) {
        underWay.remove(attempt);
    }

    /** How long until one more attempt may be made; at most 0 if it may be made now. */
    long untilNext(long now) {
        return underWay.size() < allowed ? until - now : Math.max(until, lastMade + PATIENCE) - now;
    }

    void made(PendingAttempt attempt, long now) {
        underWay.add(attempt);
        lastMade = now;
    }
}
