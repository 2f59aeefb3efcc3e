package dev.podcache.reflector;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.NoAnswer;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.object.FailureReason;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lists, watches from the list's version on, resumes a watch that ended from the last version seen, and lists again
 * when the server has forgotten that version. Failed attempts are repeated for ever: first after at most 200 ms, then
 * after pauses that double up to 30 s, or later if the server asks for it (Retry-After). Thread-safe.
 *
 * @param <T> the model class
 */
public final class Reflector<T> implements AutoCloseable {

    /*
     * There is one attempt at a time: a list, a watch, or a pause, with a number. Whatever calls back says for which
     * attempt it speaks, and is ignored unless that is the current one. So a late answer, the event of a watch that was
     * given up, or a timer that lost a race needs no further thought.
     *
     * The lock covers the number and what belongs to it. It is never held while the server or the sink is called;
     * timers are set under it, and run without it. A call of the sink is announced under the lock (enter) and marked as
     * over under it (leave): so close() knows whether one is running and can wait for it, and the watchdog does not end
     * a watch under the hands of an event.
     */

    private static final Logger log = LoggerFactory.getLogger(Reflector.class);
    private static final Duration LIST_TIMEOUT = Duration.ofSeconds(30);
    private static final Duration SHORTEST_WATCH = Duration.ofMinutes(30);
    private static final Duration BUSY = Duration.ofSeconds(1);
    private static final Duration CLOSING = Duration.ofSeconds(2);

    private final ListerWatcher<T> server;
    private final ReflectorSink<T> sink;
    private final Timekeeper timekeeper;
    private final DoubleSupplier random;
    private final RetryPauses pauses; // guarded by this
    private final ResumePoint resumePoint = new ResumePoint(); // guarded by this

    private int attempt; // guarded by this; 0 before start()
    private boolean closed; // guarded by this
    private WatchSpell spell; // guarded by this
    private @Nullable WatchHandle handle; // guarded by this
    private Timekeeper.@Nullable Scheduled timer; // guarded by this; the pause, or the watchdog of the watch
    private @Nullable CompletableFuture<Void> sinkCall; // guarded by this
    private @Nullable Thread sinkCaller; // guarded by this

    /**
     * A reflector that does nothing yet.
     *
     * @param server what to follow
     * @param sink told what is there
     * @param timekeeper measures and pauses
     * @param random uniform in [0, 1), for jitter
     */
    public Reflector(ListerWatcher<T> server, ReflectorSink<T> sink, Timekeeper timekeeper, DoubleSupplier random) {
        this.server = Objects.requireNonNull(server, "server");
        this.sink = Objects.requireNonNull(sink, "sink");
        this.timekeeper = Objects.requireNonNull(timekeeper, "timekeeper");
        this.random = Objects.requireNonNull(random, "random");
        this.pauses = new RetryPauses(random);
        this.spell = new WatchSpell(server.toString(), Duration.ZERO, timekeeper.nanoTime());
    }

    /** Begins with a list. Returns at once. Idempotent; without effect once closed. */
    public void start() {
        synchronized (this) {
            if (attempt > 0 || closed) {
                return;
            }
            attempt = 1;
        }
        list(1);
    }

    /**
     * Ends the watch. No call of the sink begins after this returned; one that runs on another thread is waited for, at
     * most 2 s. So it may be called from the sink, but not with a lock in hand that the sink takes. Idempotent.
     */
    @Override
    public void close() {
        WatchHandle open;
        CompletableFuture<Void> running;
        synchronized (this) {
            closed = true;
            attempt++;
            open = handle;
            handle = null;
            cancelTimerLocked();
            running = sinkCaller == Thread.currentThread() ? null : sinkCall;
        }
        if (open != null) {
            open.close();
        }
        try {
            if (running != null && !timekeeper.await(running, CLOSING)) {
                log.warn("{}: a sink still had not returned {} after close()", server, CLOSING);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void list(int number) {
        CompletableFuture<Listed<T>> answer;
        try {
            answer = server.list(LIST_TIMEOUT);
        } catch (RuntimeException | Error e) {
            failed(number, NoAnswer.thrown("LIST " + server, e));
            return;
        }
        answer.whenComplete((listed, thrown) -> {
            if (listed != null) {
                listed(number, listed);
            } else {
                failed(number, NoAnswer.because("LIST " + server, "the server", Objects.requireNonNull(thrown)));
            }
        });
    }

    private void listed(int number, Listed<T> listed) {
        if (!enter(number)) {
            return;
        }
        Throwable thrown = call(() -> sink.replace(listed.items(), listed.resourceVersion()));
        if (thrown != null) {
            untold(number, thrown);
            return;
        }
        synchronized (this) {
            resumePoint.listed(listed.resourceVersion());
        }
        next(number, Duration.ZERO);
    }

    private void watch(int number, String from) {
        Duration length = SHORTEST_WATCH.plusNanos((long) (SHORTEST_WATCH.toNanos() * random.getAsDouble()));
        synchronized (this) {
            spell = new WatchSpell(server.toString(), length, timekeeper.nanoTime());
        }
        WatchHandle opened;
        try {
            opened = server.watch(from, length, event -> onEvent(number, event));
        } catch (RuntimeException | Error e) {
            ended(number, NoAnswer.thrown("WATCH " + server, e));
            return;
        }
        boolean current;
        synchronized (this) {
            current = number == attempt;
            if (current) {
                handle = opened;
            }
        }
        if (current) {
            guard(number);
        } else {
            opened.close();
        }
    }

    private void onEvent(int number, WatchEvent<T> event) {
        if (event instanceof WatchEvent.Ended<T> ended) {
            ended(number, ended.failure());
        } else if (enter(number)) {
            Throwable thrown = call(() -> tell(event));
            if (thrown != null) {
                untold(number, thrown);
            } else if (event instanceof WatchEvent.Bookmark) {
                guard(number);
            }
        }
    }

    /** Tells the sink first: only what it has taken counts as seen. */
    private void tell(WatchEvent<T> event) {
        if (event instanceof WatchEvent.Upserted<T> upserted) {
            sink.upsert(upserted.fetched());
            seen(upserted.fetched().resourceVersion(), false);
        } else if (event instanceof WatchEvent.Deleted<T> deleted) {
            sink.delete(deleted.last());
            seen(deleted.last().resourceVersion(), false);
        } else if (event instanceof WatchEvent.Bookmark<T> bookmark) {
            seen(bookmark.resourceVersion(), true);
        } else {
            opened();
            sink.connected();
        }
    }

    private synchronized void opened() {
        spell.opened(timekeeper.nanoTime());
        if (pauses.failing()) {
            log.debug("{}: connected again", server);
        }
    }

    private synchronized void seen(String seen, boolean bookmark) {
        pauses.reset();
        if (bookmark) {
            spell.bookmarked(timekeeper.nanoTime());
        } else {
            spell.changed(timekeeper.nanoTime());
        }
        resumePoint.seen(seen, bookmark);
    }

    private void ended(int number, @Nullable ApiServerException failure) {
        WatchEnd end;
        synchronized (this) {
            if (number != attempt) {
                return;
            }
            long now = timekeeper.nanoTime();
            end = spell.ended(failure, now);
            if (spell.healthy(now)) {
                pauses.reset();
            }
            if (end instanceof WatchEnd.Unresumable) {
                resumePoint.lost();
            }
        }
        if (end instanceof WatchEnd.Broken broken) {
            failed(number, broken.failure());
        } else if (end instanceof WatchEnd.Unresumable unresumable) {
            failed(number, unresumable.failure());
        } else {
            next(number, Duration.ZERO);
        }
    }

    /** Looks whether the watch is alive when it could first be dead, and again whenever that moves. */
    private void guard(int number) {
        ApiServerException silence;
        WatchHandle open;
        int following;
        synchronized (this) {
            if (number != attempt) {
                return;
            }
            cancelTimerLocked();
            long now = timekeeper.nanoTime();
            Duration due = sinkCall == null ? spell.untilDead(now) : BUSY;
            if (due.compareTo(Duration.ZERO) > 0) {
                timer = timekeeper.schedule(due, () -> guard(number));
                return;
            }
            silence = spell.dead(now);
            open = handle;
            handle = null;
            // from here on its events are ignored, so none can meet the call below
            following = ++attempt;
        }
        if (open != null) {
            open.close();
        }
        failed(following, silence);
    }

    /** The sink threw, so it lacks what it was told: a list tells it once more, after a pause as after any failure. */
    private void untold(int number, Throwable thrown) {
        WatchHandle open;
        int following;
        synchronized (this) {
            if (number != attempt) {
                return;
            }
            resumePoint.lost();
            open = handle;
            handle = null;
            following = ++attempt;
        }
        if (open != null) {
            open.close();
        }
        String why = "what came could not be taken in (" + thrown.getClass().getSimpleName() + ")";
        failed(following, ApiServerException.withoutAnswer(FailureReason.UNREADABLE, server.toString(), why, thrown));
    }

    private void failed(int number, ApiServerException failure) {
        if (!enter(number)) {
            return;
        }
        Duration pause;
        synchronized (this) {
            pause = pauses.after(failure);
        }
        // how loud that is depends on what is followed, which the sink knows
        log.debug("{}: {}; next attempt in {} ms", server, failure.getMessage(), pause.toMillis());
        call(() -> sink.disconnected(failure));
        next(number, pause);
    }

    /**
     * Ends attempt {@code number} and begins the next one after {@code pause}: a watch, or a
     * list if there is no version.
     */
    private void next(int number, Duration pause) {
        int following;
        synchronized (this) {
            if (number != attempt) {
                return;
            }
            following = ++attempt;
            handle = null;
            cancelTimerLocked();
            if (!pause.isZero()) {
                timer = timekeeper.schedule(pause, () -> begin(following));
                return;
            }
        }
        begin(following);
    }

    private void begin(int number) {
        String from;
        synchronized (this) {
            if (number != attempt) {
                return;
            }
            from = resumePoint.next();
        }
        if (from == null) {
            list(number);
        } else {
            watch(number, from);
        }
    }

    /** Announces a call of the sink, unless {@code number} is over. */
    private synchronized boolean enter(int number) {
        if (number != attempt) {
            return false;
        }
        sinkCall = new CompletableFuture<>();
        sinkCaller = Thread.currentThread();
        return true;
    }

    /** Makes the announced call of the sink; returns what it threw, which is logged, or null. */
    private @Nullable Throwable call(Runnable sinkMethod) {
        try {
            sinkMethod.run();
            return null;
        } catch (RuntimeException | Error e) {
            // an Error too: whatever ends the loop here would leave the sink stale in silence
            log.error("{}: the sink failed; it is told everything again", server, e);
            return e;
        } finally {
            leave();
        }
    }

    private void leave() {
        CompletableFuture<Void> call;
        synchronized (this) {
            call = sinkCall;
            sinkCall = null;
            sinkCaller = null;
        }
        if (call != null) {
            call.complete(null);
        }
    }

    private void cancelTimerLocked() {
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
    }
}
