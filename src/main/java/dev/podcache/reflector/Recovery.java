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
 * Decides when the reflectors of one API server repeat their attempts, so that they recover together without a storm.
 * Share one instance among all reflectors of a server. Thread-safe.
 *
 * <p><b>Spread.</b> A single failure is repeated after the reflector's own pause. Reflectors that fail together are
 * spread, by up to 5 ms for each of them and 1.8 s at most, so what one connection carried is back within two seconds.
 * Lists are paced at 200 a second, watches at 1,000.
 *
 * <p><b>Outage.</b> When three attempts in a row were not answered, or were told to come later (Retry-After), of three
 * reflectors unless there are fewer, the server is taken to serve nobody. Then one reflector at a time tries. While the
 * server cannot be reached, that is at most twice a second in the first minute, and after jittered pauses up to 10 s from
 * then on. While it asks for time, that is after each pause that it asks for and a random time longer: up to 2 s, and
 * each time up to twice as long, until 30 s.
 * The first attempt that is served ends the outage for all reflectors.
 *
 * <p><b>Order.</b> An object for which a get waits goes first and is not spread.
 */
public final class Recovery {

    /*
     * State       an attempt is made                                       left when
     * ---------------------------------------------------------------------------------------------------------------
     * reachable   when it is due, and its queue has a token;               three in a row were not served
     *             an opening at once
     * outage      one at a time, at the next probe; urgent ones first;     one is served: what the outage keeps is due
     *             not before the end of a pause of its own                 again, spread
     *
     * A reflector has at most one pending attempt. No attempt is made under the lock: it runs on the caller or the timer.
     */

    private static final Logger log = LoggerFactory.getLogger(Recovery.class);
    private static final long TOGETHER = Duration.ofSeconds(1).toNanos();
    private static final long SPREAD_OF_EACH = Duration.ofMillis(5).toNanos();
    private static final long WIDEST_SPREAD = Duration.ofMillis(1_800).toNanos();

    private final Timekeeper timekeeper;
    private final DoubleSupplier random;
    private final PendingAttempts pending; // guarded by this, like all that follows
    private final Outage outage = new Outage();
    private long reflectors;
    private long numbers;
    private volatile boolean suspicious; // written under this; whether an attempt that is served may end something
    private int failedTogether;
    private long failedAt;
    private Timekeeper.@Nullable Scheduled timer;
    private long timerAt;
    private boolean making;

    /** For all reflectors of one API server. */
    public Recovery(Timekeeper timekeeper) {
        this(timekeeper, () -> ThreadLocalRandom.current().nextDouble());
    }

    /** For all reflectors of one API server, with a random number in [0, 1) for each jitter. */
    public Recovery(Timekeeper timekeeper, DoubleSupplier random) {
        this.timekeeper = timekeeper;
        this.random = random;
        this.pending = new PendingAttempts(timekeeper);
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
        }
        makeDue();
    }

    /**
     * Makes the first attempt of a reflector, a list: at once, unless the server serves nobody. The reflector has to
     * {@link #leave} some time.
     */
    void open(PendingAttempt of, Runnable task) {
        boolean waits;
        synchronized (this) {
            reflectors++;
            of.number = numbers++;
            waits = outage.lasts();
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
                pending.add(of);
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

    /** The server served an attempt, or refused it for good. Cheap while all goes well. */
    void served(PendingAttempt of) {
        if (!suspicious && !of.unserved) {
            return;
        }
        synchronized (this) {
            of.unserved = false;
            if (outage.served(of)) {
                wakeLocked();
            }
            suspicious = outage.lasts();
        }
        makeDue();
    }

    /** Nobody answered an attempt. Returns whether that is so for all: then this decides when to try again. */
    boolean unanswered(PendingAttempt of) {
        return unserved(of, (reflector, now) -> outage.unanswered(reflector, reflectors, now, random()));
    }

    /**
     * The server had no time for an attempt. Returns whether that is so for all: then this decides when to try again.
     *
     * @param asked how long the server asked to wait
     */
    boolean refused(PendingAttempt of, Duration asked) {
        return unserved(of, (reflector, now) -> outage.refused(reflector, reflectors, asked, now, random()));
    }

    private synchronized boolean unserved(PendingAttempt of, ObjLongConsumer<PendingAttempt> outcome) {
        if (of.closed) {
            return false;
        }
        suspicious = true;
        outcome.accept(of, timekeeper.nanoTime());
        of.unserved = outage.lasts();
        return outage.lasts();
    }

    private void wakeLocked() {
        long now = timekeeper.nanoTime();
        List<PendingAttempt> kept = pending.unserved();
        for (PendingAttempt attempt : kept) {
            pending.remove(attempt);
            attempt.unserved = false;
            attempt.earliest = now;
            attempt.due = attempt.isUrgent ? now : now + spread(kept.size());
            pending.add(attempt);
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
        pending.add(of);
    }

    private void removeLocked(PendingAttempt of) {
        if (of.task != null) {
            pending.remove(of);
            of.task = null;
        }
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
        PendingAttempt attempt = outage.lasts() ? probeLocked(now) : pending.take(now);
        if (attempt == null) {
            making = false;
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
        Duration until = pending.untilNext(now);
        return until != null && outage.lasts() && outage.untilProbe(now) > 0
                ? Duration.ofNanos(outage.untilProbe(now))
                : until;
    }
}
