package dev.podcache.reflector;

import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;
import java.util.function.ObjLongConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides when the reflectors of one API server repeat failed attempts, so that they recover together without a request
 * storm. Share one instance among all reflectors of a server. Thread-safe.
 *
 * <p><b>Spread.</b> A single failure is repeated after the reflector's own pause. Reflectors that fail together are
 * spread by up to 5 ms for each of them, at most 1.8 s. Lists are limited to 200 a second, watches to 1,000.
 *
 * <p><b>Outage.</b> An outage begins when three attempts in a row, of three different reflectors (or of all, if there
 * are fewer), were not answered or were told to come later (Retry-After). During an outage, one reflector at a time
 * probes the server. An unreachable server is probed at most twice a second in the first minute, then after jittered
 * pauses of up to 10 s. A server that asks for a pause is probed after that pause and a random extra time: at most 2 s
 * the first time, doubled with each further request up to 30 s. The first served attempt ends the outage for all
 * reflectors.
 *
 * <p><b>Order.</b> An object that a get waits for goes first and is not spread.
 */
public final class Recovery {

    /*
     * State       an attempt is made                                       ends when
     * ---------------------------------------------------------------------------------------------------------------
     * reachable   when it is due and its queue has a token;                three in a row were not served
     *             the first attempt of a reflector at once
     * outage      one at a time, at the next probe; urgent ones first;     one is served; attempts that waited are then
     *             not before the end of a pause of its own                 due, spread
     *
     * A reflector has at most one pending attempt. Attempts run on the caller's or the timer's thread, under no lock.
     */

    /** The limit of lists in any second. */
    public static final int LISTS_PER_SECOND = 200;

    private static final Logger log = LoggerFactory.getLogger(Recovery.class);
    private static final long TOGETHER_WITHIN = Duration.ofSeconds(1).toNanos();

    final Timekeeper timekeeper;
    final Watchdogs watchdogs;
    final LatestVersion latestVersion = new LatestVersion();
    private final DoubleSupplier random;
    private final PendingAttempts pending; // guarded by this, like all that follows
    private final Outage outage = new Outage();
    private long reflectors;
    private int numbers;
    private volatile boolean failing; // written under this; false if no attempt has failed since the last success
    private int failedTogether;
    private long failedAt;
    private Timekeeper.@Nullable Scheduled timer;
    private long timerAt;
    private boolean running;

    public Recovery(Timekeeper timekeeper) {
        this(timekeeper, () -> ThreadLocalRandom.current().nextDouble());
    }

    /** Makes a recovery whose jitter is drawn from {@code random}, uniform in [0, 1). */
    public Recovery(Timekeeper timekeeper, DoubleSupplier random) {
        this.timekeeper = timekeeper;
        this.watchdogs = new Watchdogs(timekeeper);
        this.random = random;
        this.pending = new PendingAttempts(timekeeper);
    }

    /** Returns a random number in [0, 1), for jitter. */
    double random() {
        return random.getAsDouble();
    }

    /** Removes a reflector and drops its pending attempt. */
    void close(PendingAttempt attempt) {
        synchronized (this) {
            reflectors--;
            attempt.closed = true;
            removeLocked(attempt);
            outage.closed(attempt, random());
        }
        runDue();
    }

    /**
     * Adds a reflector and makes its first attempt, a list: at once, or after the outage if there is one. Each call
     * needs one {@link #close}.
     */
    void open(PendingAttempt attempt, Runnable task) {
        boolean waits;
        synchronized (this) {
            reflectors++;
            attempt.number = numbers++;
            waits = failing && outage.lasts();
            if (waits) {
                putLocked(attempt, true, Duration.ZERO, 0, task);
            }
        }
        if (waits) {
            runDue();
        } else {
            task.run();
        }
    }

    /** Makes another attempt after {@code pause}, and later if many reflectors failed together. */
    void repeat(PendingAttempt attempt, boolean isList, Duration pause, Runnable task) {
        synchronized (this) {
            long now = timekeeper.nanoTime();
            failedTogether = now - failedAt < TOGETHER_WITHIN ? failedTogether + 1 : 1;
            failedAt = now;
            putLocked(attempt, isList, pause, spread(failedTogether), task);
        }
        runDue();
    }

    /**
     * Makes a list that confirms the sink's state: if a get waits, right after {@code pause}, else at a random moment in
     * the last three quarters of {@code within}. In the first quarter, the server may still refuse the version.
     */
    void confirm(PendingAttempt attempt, Duration pause, Duration within, Runnable task) {
        synchronized (this) {
            putLocked(attempt, true, pause, (long) ((1 + 3 * random()) / 4 * within.toNanos()), task);
        }
        runDue();
    }

    /** Makes the attempts of a reflector urgent until {@link #settle}, because a get waits for the object. */
    void hurry(PendingAttempt attempt) {
        synchronized (this) {
            Runnable task = attempt.task;
            removeLocked(attempt);
            attempt.isUrgent = true;
            if (task != null) {
                attempt.task = task;
                attempt.due = attempt.earliest;
                pending.add(attempt);
            }
        }
        runDue();
    }

    /** Records that the object is up to date: its attempts are not urgent, and the pending one is dropped. */
    synchronized void settle(PendingAttempt attempt) {
        removeLocked(attempt);
        attempt.isUrgent = false;
        setTimerLocked(timekeeper.nanoTime());
    }

    /** Records that the server served an attempt, or refused it for good. Cheap while nothing fails. */
    void served(PendingAttempt attempt) {
        if (!failing && !attempt.waitsForOutage) {
            return;
        }
        synchronized (this) {
            attempt.waitsForOutage = false;
            if (outage.served(attempt)) {
                wakeLocked();
            }
            failing = outage.lasts();
        }
        runDue();
    }

    /**
     * Records that an attempt was not answered. Returns whether there is an outage; this then decides when to try
     * again.
     */
    boolean unanswered(PendingAttempt attempt) {
        return failed(attempt, (reflector, now) -> outage.unanswered(reflector, reflectors, now, random()));
    }

    /**
     * Records that the server asked to repeat an attempt after a pause. Returns whether there is an outage; this then
     * decides when to try again.
     *
     * @param asked the pause that the server asked for
     */
    boolean refused(PendingAttempt attempt, Duration asked) {
        return failed(attempt, (reflector, now) -> outage.refused(reflector, reflectors, asked, now, random()));
    }

    private synchronized boolean failed(PendingAttempt attempt, ObjLongConsumer<PendingAttempt> outcome) {
        if (attempt.closed) {
            return false;
        }
        failing = true;
        outcome.accept(attempt, timekeeper.nanoTime());
        attempt.waitsForOutage = outage.lasts();
        return outage.lasts();
    }

    private void wakeLocked() {
        long now = timekeeper.nanoTime();
        List<PendingAttempt> waiting = pending.waitingForOutage();
        for (PendingAttempt attempt : waiting) {
            pending.remove(attempt);
            attempt.waitsForOutage = false;
            attempt.earliest = now;
            attempt.due = attempt.isUrgent ? now : now + spread(waiting.size());
            pending.add(attempt);
        }
    }

    private long spread(int together) {
        return (long) (random() * AttemptSpread.of(together).toNanos());
    }

    private void putLocked(PendingAttempt attempt, boolean isList, Duration pause, long spread, Runnable task) {
        if (attempt.closed) {
            return;
        }
        removeLocked(attempt);
        attempt.task = task;
        attempt.isList = isList;
        attempt.earliest = timekeeper.nanoTime() + pause.toNanos();
        attempt.due = attempt.isUrgent ? attempt.earliest : attempt.earliest + spread;
        pending.add(attempt);
    }

    private void removeLocked(PendingAttempt attempt) {
        if (attempt.task != null) {
            pending.remove(attempt);
            attempt.task = null;
        }
    }

    /** Makes the attempts that are due, one after the other, and sets the timer for the next. */
    private void runDue() {
        synchronized (this) {
            // an attempt that fails at once calls this method again; the next one must not run inside it
            if (running) {
                return;
            }
            running = true;
        }
        boolean over = false;
        try {
            for (Runnable task = next(); task != null; task = next()) {
                run(task);
            }
            over = true;
        } finally {
            if (!over) {
                // the next attempt that is due makes the others too
                synchronized (this) {
                    running = false;
                }
            }
        }
    }

    private static void run(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            log.error("an attempt to list or watch threw; this is a bug in Podcache", e);
        }
    }

    private synchronized @Nullable Runnable next() {
        long now = timekeeper.nanoTime();
        PendingAttempt attempt = outage.lasts() ? probeLocked(now) : pending.take(now);
        if (attempt == null) {
            running = false;
            setTimerLocked(now);
            return null;
        }
        Runnable task = attempt.task;
        removeLocked(attempt);
        return task;
    }

    private @Nullable PendingAttempt probeLocked(long now) {
        PendingAttempt found = outage.untilProbe(now) <= 0 ? pending.probe(now) : null;
        if (found != null) {
            outage.probeBegins(found, now);
        }
        return found;
    }

    private void setTimerLocked(long now) {
        Duration until = untilNextLocked(now);
        boolean keeps = until != null && timerAt - now > 0 && timerAt - now <= until.toNanos();
        if (timer != null && !keeps) {
            timer.cancel();
            timer = null;
        }
        if (timer == null && until != null) {
            long at = now + until.toNanos();
            timerAt = at;
            timer = timekeeper.schedule(until, () -> fired(at));
        }
    }

    private void fired(long at) {
        synchronized (this) {
            timer = timerAt == at ? null : timer;
        }
        runDue();
    }

    private @Nullable Duration untilNextLocked(long now) {
        Duration until = pending.untilNext(now);
        return until != null && outage.lasts() && outage.untilProbe(now) > 0
                ? Duration.ofNanos(outage.untilProbe(now))
                : until;
    }
}
