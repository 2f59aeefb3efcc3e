package dev.podcache.reflector;

import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides when the reflectors of one API server repeat their attempts, so that they recover together without a storm.
 * Share one instance among all reflectors of a server. Thread-safe.
 *
 * <p><b>Spread.</b> A single failure is repeated after the reflector's own pause. Reflectors that fail together are
 * spread, by up to 5 ms for each of them and 1.8 s at most, so what one connection carried is back within two seconds.
 * Lists are paced at 200 a second, watches at 1,000.
 *
 * <p><b>Outage.</b> When three attempts in a row were not answered, of three reflectors unless there are fewer, the
 * server is taken to be unreachable. Then one reflector at a time tries, at most twice a second in the first minute and
 * after jittered pauses up to 10 s from then on. The first answer to any reflector ends the outage for all of them: two
 * try then, and each attempt that is served allows one more at a time.
 *
 * <p><b>Throttling.</b> When three answers in a row ask to come later (Retry-After), of three reflectors unless there are
 * fewer, all wait for as long as that, and a random time longer. Then one tries, and each attempt that is served allows
 * one more at a time, so that their number doubles with each round trip.
 *
 * <p><b>Order.</b> An object for which a get waits goes first and is not spread.
 */
public final class Recovery {

    /*
     * State       an attempt is made                                       left when
     * ---------------------------------------------------------------------------------------------------------------
     * reachable   when it is due, and its queue has a token;               three in a row were not answered, or were
     *             an opening at once                                       told to come later
     * outage      one at a time, at the next probe; urgent ones first;     anybody gets an answer: whoever was not
     *             whatever its pause, unless the server asked for it       answered is due again, spread
     * throttled   as when reachable, but not before the server has time    as many as there are reflectors may be under
     *             again, and so many at a time as it has shown to serve    way, or an outage
     *
     * A reflector has at most one pending attempt. No attempt is made under the lock: it runs on the caller or the timer.
     */

    private static final Logger log = LoggerFactory.getLogger(Recovery.class);
    private static final long TOGETHER = Duration.ofSeconds(1).toNanos();
    private static final long SPREAD_OF_EACH = Duration.ofMillis(5).toNanos();
    private static final long WIDEST_SPREAD = Duration.ofMillis(1_800).toNanos();

    private final Timekeeper timekeeper;
    private final DoubleSupplier random;
    private final AttemptQueue lists; // guarded by this, like all that follows
    private final AttemptQueue watches;
    private final Outage outage = new Outage();
    private final Throttle throttle = new Throttle();
    private long reflectors;
    private long numbers;
    private volatile boolean suspicious; // written under this; whether the latest attempt was not answered
    private int failedTogether;
    private long failedAt;
    private Timekeeper.@Nullable Scheduled timer;
    private long timerAt;
    private boolean making;

    /** For all reflectors of one API server. */
    public Recovery(Timekeeper timekeeper) {
        this(timekeeper, () -> ThreadLocalRandom.current().nextDouble());
    }

    /**
     * One whose jitter is given.
     *
     * @param random uniform in [0, 1)
     */
    public Recovery(Timekeeper timekeeper, DoubleSupplier random) {
        this.timekeeper = timekeeper;
        this.random = random;
        // with what is in the bucket, at most 200 in any second
        this.lists = new AttemptQueue(180, 20, timekeeper);
        this.watches = new AttemptQueue(1_000, 50, timekeeper);
    }

    Timekeeper timekeeper() {
        return timekeeper;
    }

    /** Returns a random number in [0, 1), for jitter. */
    double random() {
        return random.getAsDouble();
    }

    /** One reflector less; its pending attempt is dropped. */
    void leave(PendingAttempt of) {
        synchronized (this) {
            reflectors--;
            of.closed = true;
            removeLocked(of);
            outage.left(of, random());
            throttle.ended(of);
        }
        makeDue();
    }

    /**
     * Makes the first attempt of a reflector, a list: at once, unless the server is unreachable. The reflector has to
     * {@link #leave} some time.
     */
    void open(PendingAttempt of, Runnable task) {
        boolean waits;
        synchronized (this) {
            reflectors++;
            of.number = numbers++;
            waits = outage.lasts() || throttle.lasts();
            if (waits) {
                putLocked(of, true, Duration.ZERO, 0, task);
            }
        }
        if (waits) {
            makeDue();
        } else {
            task.run();
        }
    }

    /** Makes another attempt after {@code pause}, and later if many failed together. */
    void repeat(PendingAttempt of, boolean isList, Duration pause, Runnable task) {
        synchronized (this) {
            long now = timekeeper.nanoTime();
            failedTogether = now - failedAt < TOGETHER ? failedTogether + 1 : 1;
            failedAt = now;
            putLocked(of, isList, pause, spread(failedTogether), task);
        }
        makeDue();
    }

    /**
     * Makes a list that confirms what is known, after {@code pause} and at a random moment of {@code within}; right
     * after the pause if a get waits.
     */
    void confirm(PendingAttempt of, Duration pause, Duration within, Runnable task) {
        synchronized (this) {
            putLocked(of, true, pause, (long) (random() * within.toNanos()), task);
        }
        makeDue();
    }

    /** A get waits for the object: from now on, until {@link #settle}, its attempts go first. */
    void hurry(PendingAttempt of) {
        synchronized (this) {
            Runnable task = of.task;
            removeLocked(of);
            of.isUrgent = true;
            if (task != null) {
                of.task = task;
                of.due = of.earliest;
                queue(of).add(of);
            }
        }
        makeDue();
    }

    /** The object is up to date: nothing waits for it any more, and what is pending is not needed. */
    synchronized void settle(PendingAttempt of) {
        removeLocked(of);
        of.isUrgent = false;
        setTimerLocked(timekeeper.nanoTime());
    }

    /** The server answered an attempt, with whatever. Cheap while all goes well. */
    void answered(PendingAttempt of) {
        if (!suspicious && !of.unanswered) {
            return;
        }
        synchronized (this) {
            of.unanswered = false;
            throttle.served(of, reflectors, timekeeper.nanoTime());
            if (outage.answered()) {
                wakeLocked();
            }
            suspicious = throttle.lasts();
        }
        makeDue();
    }

    /**
     * The server answered an attempt that it has no time for it. Returns whether that is so for all: then the Recovery
     * says when to try again.
     *
     * @param pause at least what the server asked for
     */
    boolean throttled(PendingAttempt of, Duration pause) {
        boolean forAll;
        synchronized (this) {
            of.unanswered = false;
            suspicious = true;
            if (outage.answered()) {
                wakeLocked();
            }
            throttle.refused(of, reflectors, pause, timekeeper.nanoTime(), random());
            forAll = throttle.lasts();
        }
        makeDue();
        return forAll;
    }

    /** Nobody answered an attempt. Returns whether that is because the server is unreachable for all. */
    synchronized boolean unanswered(PendingAttempt of) {
        of.unanswered = true;
        suspicious = true;
        throttle.ended(of);
        outage.unanswered(of, reflectors, timekeeper.nanoTime(), random());
        return outage.lasts();
    }

    private void wakeLocked() {
        long now = timekeeper.nanoTime();
        throttle.slowStart(now);
        for (AttemptQueue queue : List.of(watches, lists)) {
            List<PendingAttempt> waiting = queue.unanswered();
            for (PendingAttempt attempt : waiting) {
                queue.remove(attempt);
                attempt.unanswered = false;
                attempt.earliest = now;
                attempt.due = attempt.isUrgent ? now : now + spread(waiting.size());
                queue.add(attempt);
            }
        }
    }

    private long spread(int together) {
        return (long) (random() * Math.min(WIDEST_SPREAD, SPREAD_OF_EACH * (together - 1)));
    }

    private void putLocked(PendingAttempt of, boolean isList, Duration pause, long spread, Runnable task) {
        if (of.closed) {
            return;
        }
        removeLocked(of);
        of.task = task;
        of.isList = isList;
        of.earliest = timekeeper.nanoTime() + pause.toNanos();
        of.due = of.isUrgent ? of.earliest : of.earliest + spread;
        queue(of).add(of);
    }

    private void removeLocked(PendingAttempt of) {
        if (of.task != null) {
            queue(of).remove(of);
            of.task = null;
        }
    }

    private AttemptQueue queue(PendingAttempt of) {
        return of.isList ? lists : watches;
    }

    /** Makes the attempts that are due, one after the other, and sets the timer for the next. */
    private void makeDue() {
        synchronized (this) {
            // one that fails at once comes back here: it is not made inside the one before it
            if (making) {
                return;
            }
            making = true;
        }
        for (Runnable task = next(); task != null; task = next()) {
            try {
                task.run();
            } catch (RuntimeException | Error e) {
                log.error("an attempt failed unexpectedly; this is a bug in Podcache", e);
            }
        }
    }

    private synchronized @Nullable Runnable next() {
        long now = timekeeper.nanoTime();
        PendingAttempt attempt = outage.lasts() ? probeLocked(now) : takeLocked(now);
        if (attempt == null) {
            making = false;
            setTimerLocked(now);
            return null;
        }
        Runnable task = attempt.task;
        removeLocked(attempt);
        return task;
    }

    private @Nullable PendingAttempt takeLocked(long now) {
        if (throttle.lasts() && throttle.untilNext(now) > 0) {
            return null;
        }
        PendingAttempt watch = watches.take(now);
        PendingAttempt found = watch == null ? lists.take(now) : watch;
        if (found != null && throttle.lasts()) {
            throttle.made(found, now);
        }
        return found;
    }

    private @Nullable PendingAttempt probeLocked(long now) {
        PendingAttempt found = null;
        if (outage.untilProbe(now) <= 0) {
            for (boolean urgently : new boolean[] {true, false}) {
                found = found == null ? watches.probe(now, urgently) : found;
                found = found == null ? lists.probe(now, urgently) : found;
            }
        }
        if (found != null) {
            outage.probes(found, now);
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
        makeDue();
    }

    private @Nullable Duration untilNextLocked(long now) {
        Duration watch = watches.untilNext(now);
        Duration list = lists.untilNext(now);
        if (watch == null && list == null) {
            return null;
        } else if (outage.lasts() && outage.untilProbe(now) > 0) {
            return Duration.ofNanos(outage.untilProbe(now));
        }
        Duration soonest = list == null || (watch != null && watch.compareTo(list) <= 0) ? watch : list;
        Duration throttled = Duration.ofNanos(throttle.lasts() ? throttle.untilNext(now) : 0);
        return soonest == null || throttled.compareTo(soonest) > 0 ? throttled : soonest;
    }
}
