package dev.podcache.reflector;

import dev.podcache.reflector.AttemptQueues.NextAttempt;
import dev.podcache.time.Pause;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;
import java.util.function.ObjLongConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides when the reflectors of one API server repeat failed attempts, so that they recover together without a request
 * storm, and has them look for dead watches every 10 s. Share one instance among all reflectors of a server.
 * Thread-safe.
 *
 * <p><b>Spread.</b> A single failure is repeated after the reflector's own pause. Reflectors that fail together are
 * spread by up to 5 ms for each of them, at most 1.8 s.
 *
 * <p><b>Limit.</b> In any second, at most 200 lists and 1,000 watches are <i>repeated</i>, lists that confirm what is
 * known included. The first list and the first watch of a reflector are not limited and not delayed unless there is an
 * outage, because a get may wait for them: whoever opens a thousand reflectors at once makes a thousand lists at once. A
 * plain list that is made at once because the server refused to stream it is not limited either. A list that is repeated
 * because access may soon follow a new reference counts as a watch.
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
     * A reflector has at most one pending attempt. Attempts run on the caller's or the timer's thread, sweeps on the
     * timer's thread; neither runs under a lock of this package. Under this lock, only the timekeeper, the token buckets
     * and the source of random numbers are called.
     *
     * One timer serves attempts and sweeps. It is set while there are open reflectors. If it cannot be set because the
     * timekeeper throws, twice, the next call sets it, whichever reflector makes it. If an attempt cannot be added to
     * its queue, the next sweep adds it.
     */

    /** The limit of lists that are repeated in any second. */
    public static final int LISTS_PER_SECOND = 200;

    private static final Logger log = LoggerFactory.getLogger(Recovery.class);
    private static final long RETRY_PAUSE = Duration.ofMillis(250).toNanos();
    private static final long TOGETHER_WITHIN = Duration.ofSeconds(1).toNanos();
    private static final long SPREAD_OF_EACH = Duration.ofMillis(5).toNanos();
    private static final long LONGEST_SPREAD = Duration.ofMillis(1_800).toNanos();
    private static final long SWEEP_PERIOD = Duration.ofSeconds(10).toNanos();

    final Timekeeper timekeeper;
    private final DoubleSupplier random;
    private volatile String latestVersion = ""; // a lost update only costs memory
    private final AttemptQueues queues; // guarded by this, like all that follows
    private final Outage outage = new Outage();
    private final List<NextAttempt> open = new ArrayList<>(); // those of open reflectors, each at its place
    private int numbers;
    private long failingSince; // in nanoseconds; written under this, before failing
    private volatile boolean failing; // written under this; false if no attempt has failed since the last success
    private int failedTogether;
    private long failedAt;
    private long nextSweep;
    private Timekeeper.@Nullable Scheduled timer;
    private long timerAt;
    private boolean running;

    public Recovery(Timekeeper timekeeper) {
        this(timekeeper, () -> ThreadLocalRandom.current().nextDouble());
    }

    /** Makes a recovery whose jitter is drawn from {@code random}, uniform in [0, 1). */
    public Recovery(Timekeeper timekeeper, DoubleSupplier random) {
        this.timekeeper = timekeeper;
        this.random = random;
        this.queues = new AttemptQueues(timekeeper);
    }

    /** Returns the time over which the attempts of so many reflectors that failed together are spread at random. */
    public static Duration spread(int together) {
        return Duration.ofNanos(Math.min(LONGEST_SPREAD, SPREAD_OF_EACH * Math.max(0, together - 1)));
    }

    /** Returns a random number in [0, 1), for jitter. */
    double random() {
        return random.getAsDouble();
    }

    /**
     * Returns the String of the call before if it equals {@code version}, otherwise {@code version}. Lists and bookmarks
     * of one moment have the same version, but each is decoded to a String of its own; so the reflectors keep one for
     * all of them.
     */
    String share(String version) {
        String before = latestVersion;
        if (before.equals(version)) {
            return before;
        }
        latestVersion = version;
        return version;
    }

    /** Removes a reflector and drops its pending attempt. Makes no attempt of another. */
    void close(NextAttempt attempt) {
        synchronized (this) {
            attempt.closed = true;
            removeLocked(attempt);
            outage.closed(attempt, random());
            if (attempt.place >= 0) {
                NextAttempt last = open.remove(open.size() - 1);
                if (last != attempt) {
                    open.set(attempt.place, last);
                    last.place = attempt.place;
                }
                attempt.place = -1;
            }
            // what is due now is made by the timer: the caller may hold a lock
            setTimerLocked(timekeeper.nanoTime());
        }
    }

    /** Adds a reflector and makes its first attempt, a list: at once, or after the outage if there is one. */
    void open(NextAttempt attempt, Runnable task) {
        boolean waits;
        synchronized (this) {
            if (attempt.closed) {
                return;
            }
            attempt.number = numbers++;
            nextSweep = open.isEmpty() ? timekeeper.nanoTime() + SWEEP_PERIOD : nextSweep;
            open.add(attempt);
            attempt.place = open.size() - 1;
            waits = outage.lasts();
            if (waits) {
                putLocked(attempt, true, Duration.ZERO, 0, task);
            }
        }
        if (!waits) {
            attempt.reflector.step(task);
        }
        runDue();
    }

    /** Makes another attempt after {@code pause}, and later if many reflectors failed together. */
    void repeat(NextAttempt attempt, boolean isList, Duration pause, Runnable task) {
        synchronized (this) {
            long now = timekeeper.nanoTime();
            failedTogether = now - failedAt < TOGETHER_WITHIN ? failedTogether + 1 : 1;
            failedAt = now;
            putLocked(attempt, isList, pause, randomSpread(failedTogether), task);
        }
        runDue();
    }

    /**
     * Makes another attempt after {@code pause}, because the refusal of the last one may pass soon. Not spread.
     * Counts as a watch even if it is a list: while the server refuses it, the server reads nothing.
     */
    void repeatSoon(NextAttempt attempt, Duration pause, Runnable task) {
        synchronized (this) {
            putLocked(attempt, false, pause, 0, task);
        }
        runDue();
    }

    /**
     * Makes a list that confirms the sink's state: if a get waits, right after {@code pause}, else at a random moment in
     * the last three quarters of {@code within}. In the first quarter, the server may still refuse the version.
     */
    void confirm(NextAttempt attempt, Duration pause, Duration within, Runnable task) {
        synchronized (this) {
            putLocked(attempt, true, pause, (long) ((1 + 3 * random()) / 4 * within.toNanos()), task);
        }
        runDue();
    }

    /** Makes the attempts of a reflector urgent until {@link #settle}, because a get waits for the object. */
    void hurry(NextAttempt attempt) {
        synchronized (this) {
            Runnable task = attempt.task;
            removeLocked(attempt);
            attempt.isUrgent = true;
            if (task != null) {
                attempt.task = task;
                attempt.due = attempt.earliest;
                queues.add(attempt);
            }
        }
        runDue();
    }

    /** Makes the pending attempt of a reflector sooner: see {@link Reflector#retry}. */
    void retry(NextAttempt attempt) {
        synchronized (this) {
            long now = timekeeper.nanoTime();
            long soonest = now + Math.max(0, attempt.since + RETRY_PAUSE - now);
            Runnable task = attempt.task;
            if (task == null || attempt.due - soonest <= 0) {
                return;
            }
            removeLocked(attempt);
            attempt.task = task;
            attempt.earliest = soonest;
            attempt.due = soonest;
            queues.add(attempt);
        }
        runDue();
    }

    /**
     * Returns whether an attempt of any reflector was not answered, or was told to come later, and none was served since.
     * Takes no lock.
     */
    public boolean isFailing() {
        return failing;
    }

    /** Returns for how long {@link #isFailing} has been true; empty if it is not. Takes no lock. */
    public Optional<Duration> failingFor() {
        return failing ? Optional.of(Duration.ofNanos(timekeeper.nanoTime() - failingSince)) : Optional.empty();
    }

    /** Records that the object is up to date: its attempts are not urgent, and the pending one is dropped. */
    synchronized void settle(NextAttempt attempt) {
        removeLocked(attempt);
        attempt.isUrgent = false;
        setTimerLocked(timekeeper.nanoTime());
    }

    /** Records that the server served an attempt, or refused it for good. Cheap while nothing fails. */
    void served(NextAttempt attempt) {
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
    boolean unanswered(NextAttempt attempt) {
        return failed(attempt, (reflector, now) -> outage.unanswered(reflector, open.size(), now, random()));
    }

    /**
     * Records that the server asked to repeat an attempt after a pause. Returns whether there is an outage; this then
     * decides when to try again.
     *
     * @param asked the pause that the server asked for
     */
    boolean refused(NextAttempt attempt, Duration asked) {
        return failed(attempt, (reflector, now) -> outage.refused(reflector, open.size(), asked, now, random()));
    }

    private synchronized boolean failed(NextAttempt attempt, ObjLongConsumer<NextAttempt> outcome) {
        if (attempt.closed) {
            return false;
        }
        if (!failing) {
            failingSince = timekeeper.nanoTime();
        }
        failing = true;
        outcome.accept(attempt, timekeeper.nanoTime());
        attempt.waitsForOutage = outage.lasts();
        return outage.lasts();
    }

    /** Returns whether the server serves no reflector. */
    synchronized boolean isOutage() {
        return outage.lasts();
    }

    private void wakeLocked() {
        long now = timekeeper.nanoTime();
        List<NextAttempt> waiting = queues.waitingForOutage();
        for (NextAttempt attempt : waiting) {
            // first, because it may throw
            long due = attempt.isUrgent ? now : now + randomSpread(waiting.size());
            queues.remove(attempt);
            attempt.waitsForOutage = false;
            attempt.earliest = now;
            attempt.due = due;
            queues.add(attempt);
        }
    }

    private long randomSpread(int together) {
        return (long) (random() * spread(together).toNanos());
    }

    private void putLocked(NextAttempt attempt, boolean isList, Duration pause, long spread, Runnable task) {
        if (attempt.closed) {
            return;
        }
        removeLocked(attempt);
        attempt.task = task;
        attempt.isList = isList;
        attempt.since = timekeeper.nanoTime();
        attempt.earliest = attempt.since + pause.toNanos();
        attempt.due = attempt.isUrgent ? attempt.earliest : attempt.earliest + spread;
        queues.add(attempt);
    }

    private void removeLocked(NextAttempt attempt) {
        if (attempt.task != null) {
            queues.remove(attempt);
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
            for (NextAttempt due = next(); due != null; due = next()) {
                run(due);
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

    private static void run(NextAttempt due) {
        Runnable step = due.taken;
        due.taken = null;
        try {
            if (step != null) {
                due.reflector.step(step);
            }
        } catch (RuntimeException | Error e) {
            log.error("an attempt to list or watch threw; this is a bug in Podcache", e);
        }
    }

    private synchronized @Nullable NextAttempt next() {
        long now = timekeeper.nanoTime();
        NextAttempt attempt = outage.lasts() ? probeLocked(now) : queues.take(now);
        if (attempt == null) {
            running = false;
            setTimerLocked(now);
            return null;
        }
        attempt.taken = attempt.task;
        removeLocked(attempt);
        return attempt;
    }

    private @Nullable NextAttempt probeLocked(long now) {
        NextAttempt found = outage.untilProbe(now) <= 0 ? queues.probe(now) : null;
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
            timer = Pause.schedule(timekeeper, until, () -> fired(at));
        }
    }

    private void fired(long at) {
        try {
            // each of them handles what it throws
            takeSweep(at).forEach(attempt -> attempt.reflector.sweep());
        } finally {
            runDue();
        }
    }

    /** Returns the reflectors whose watches are to be checked now. */
    private synchronized List<NextAttempt> takeSweep(long firedAt) {
        timer = timerAt == firedAt ? null : timer;
        long now = timekeeper.nanoTime();
        if (open.isEmpty() || nextSweep - now > 0) {
            return List.of();
        }
        nextSweep = now + SWEEP_PERIOD;
        // if adding one threw, as without memory, it is in no queue
        open.stream().filter(attempt -> attempt.task != null).forEach(queues::add);
        return List.copyOf(open);
    }

    private @Nullable Duration untilNextLocked(long now) {
        Duration until = queues.untilNext(now);
        if (until != null && outage.lasts() && outage.untilProbe(now) > 0) {
            until = Duration.ofNanos(outage.untilProbe(now));
        }
        if (open.isEmpty()) {
            return until;
        }
        Duration sweep = Duration.ofNanos(Math.max(0, nextSweep - now));
        return until == null || sweep.compareTo(until) < 0 ? sweep : until;
    }
}
