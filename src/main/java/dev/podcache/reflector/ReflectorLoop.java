package dev.podcache.reflector;

import com.google.common.collect.ImmutableList;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.NoAnswer;
import dev.podcache.apiserver.Retries;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.object.FailureReason;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The loop of a {@link Reflector}: list, watch, pause and again. Thread-safe.
 *
 * @param <T> the model class
 */
final class ReflectorLoop<T> {

    /*
     * There is one attempt at a time: a list, a watch, or a pause, with a number. Whatever calls back says for which
     * attempt it speaks, and is ignored unless that is the current one. So a late answer, the event of a watch that was
     * given up, or a timer that lost a race needs no further thought.
     *
     * All that happens is a step: a list's answer, an event, a timer. Steps run one at a time, so only close() can end
     * an attempt under the hands of a step, and what steps alone touch needs no lock. No lock is held while the server,
     * the sink or the Recovery is called.
     *
     * Confirmed   since                                    a watch that is accepted      left when
     * -------------------------------------------------------------------------------------------------------------
     * yes         a list, or an event or bookmark of the   is up to date: connected()    an attempt fails
     *             watch, after the last failure
     * no          a failed attempt                         may be behind: resumed(),     an event, a bookmark, or the
     *                                                      then a list within 2 s        list brings something newer
     *
     * A watch without a version is never confirmed by its events: they may be older than what was deleted meanwhile.
     */

    private static final Logger log = LoggerFactory.getLogger(Reflector.class);
    private static final Duration LIST_TIMEOUT = Duration.ofSeconds(30);
    private static final Duration SHORTEST_WATCH = Duration.ofMinutes(30);
    private static final Duration CLOSING = Duration.ofSeconds(2);

    private final ListerWatcher<T> server;
    private final ReflectorSink<T> sink;
    private final Timekeeper timekeeper;
    private final Recovery recovery;
    private final boolean confirms;
    private final Steps steps = new Steps(this::broken);
    private final SinkCalls sinkCalls = new SinkCalls();
    private final CurrentAttempt attempt = new CurrentAttempt();
    private final PendingAttempt pending = new PendingAttempt();
    private final RetryPauses pauses; // touched in steps only, like the next two
    private final ResumePoint resumePoint = new ResumePoint();
    private boolean confirmed;

    /**
     * A loop that does not run yet.
     *
     * @param confirms whether a list confirms what is known after a failure
     */
    ReflectorLoop(ListerWatcher<T> server, ReflectorSink<T> sink, Recovery recovery, boolean confirms) {
        this.server = server;
        this.sink = sink;
        this.timekeeper = recovery.timekeeper();
        this.recovery = recovery;
        this.confirms = confirms;
        this.pauses = new RetryPauses(recovery::random);
    }

    void start() {
        if (attempt.begin()) {
            recovery.open(pending, () -> steps.run(() -> begin(1)));
        }
    }

    void hurry() {
        recovery.hurry(pending);
    }

    void close() {
        if (attempt.close()) {
            recovery.leave(pending);
        }
        if (!sinkCalls.awaitEnd(timekeeper, CLOSING)) {
            log.warn("{}: a sink still had not returned {} after close()", server, CLOSING);
        }
    }

    private void begin(int number) {
        if (!isCurrent(number)) {
            return;
        }
        String from = resumePoint.next();
        if (from == null) {
            list(listed -> listed(number, listed), failure -> failed(number, failure, false));
        } else {
            watch(number, from);
        }
    }

    /** Makes a list. What comes of it is a step of its own. */
    void list(Consumer<Listed<T>> answered, Consumer<ApiServerException> failed) {
        CompletableFuture<Listed<T>> answer;
        try {
            answer = server.list(LIST_TIMEOUT);
        } catch (RuntimeException | Error e) {
            failed.accept(NoAnswer.thrown("LIST " + server, e));
            return;
        }
        answer.whenComplete((listed, thrown) -> steps.run(() -> {
            if (listed != null) {
                recovery.served(pending);
                answered.accept(listed);
            } else {
                failed.accept(NoAnswer.because("LIST " + server, "the server", Objects.requireNonNull(thrown)));
            }
        }));
    }

    private void listed(int number, Listed<T> listed) {
        if (tell(number, () -> sink.replace(ImmutableList.copyOf(listed.items()), listed.resourceVersion()))) {
            resumePoint.listed(listed.resourceVersion());
            confirmed = true;
            begin(attempt.after(number));
        }
    }

    private void watch(int number, String from) {
        Duration length = SHORTEST_WATCH.plusNanos((long) (SHORTEST_WATCH.toNanos() * recovery.random()));
        WatchHealth health = new WatchHealth(server.toString(), from, length, timekeeper.nanoTime());
        // a watch without a version begins with what may be older than a deletion that nobody tells
        confirmed &= !from.isEmpty();
        WatchAttempt<T> watch = new WatchAttempt<>(this, sink, number, health, confirmed || !confirms);
        WatchHandle opened;
        try {
            opened = server.watch(from, length, event -> steps.run(() -> watch.happened(event)));
        } catch (RuntimeException | Error e) {
            failed(number, NoAnswer.thrown("WATCH " + server, e), false);
            return;
        }
        attempt.watches(number, opened);
        watch.guard();
    }

    // What a watch tells

    long now() {
        return timekeeper.nanoTime();
    }

    /** The server answered the current attempt. */
    void answered() {
        recovery.served(pending);
    }

    /** Something newer than the last failure has come: the sink is up to date. */
    void confirmed(int number) {
        confirmed = true;
        if (tell(number, sink::connected)) {
            recovery.settle(pending);
        }
    }

    /** Runs a step that confirms what is known, after {@code pause} and at a random moment of {@code within}. */
    void confirmLater(Duration pause, Duration within, Runnable step) {
        recovery.confirm(pending, pause, within, () -> steps.run(step));
    }

    /** The sink has taken in what has that version; empty if it has none. */
    void seen(String version, boolean bookmark) {
        pauses.reset();
        resumePoint.seen(version, bookmark);
    }

    /** The sink has taken in a list with that version, empty if it has none, while a watch is open. */
    void confirmedBy(String version) {
        pauses.reset();
        if (!version.isEmpty()) {
            resumePoint.listed(version);
        }
    }

    /** Sets the watchdog of an attempt, in place of the one before. */
    void watchdog(int number, Duration due, Runnable step) {
        attempt.watchdog(number, timekeeper, due, () -> steps.run(step));
    }

    /** The watch of an attempt ended. */
    void ended(int number, WatchHealth health, @Nullable ApiServerException failure) {
        long now = now();
        boolean tooEarly = failure == null && pauses.endedEarlyAgain(health.isEarly(now));
        WatchEnd end = health.ended(failure, tooEarly, now);
        if (health.healthy(now)) {
            pauses.reset();
        }
        if (end instanceof WatchEnd.Unresumable) {
            resumePoint.lost();
        }
        if (end instanceof WatchEnd.Broken broken) {
            failed(number, broken.failure(), health.isOpen());
        } else if (end instanceof WatchEnd.Unresumable unresumable) {
            failed(number, unresumable.failure(), health.isOpen());
        } else {
            next(number, Duration.ZERO);
        }
    }

    /** Gives up the attempt, and repeats it after a pause as after any failure: from the last version, or by a list. */
    void abandon(int number, ApiServerException failure, boolean resumes) {
        if (!isCurrent(number)) {
            return;
        }
        if (!resumes) {
            resumePoint.lost();
        }
        failed(attempt.after(number), failure, true);
    }

    private void failed(int number, ApiServerException failure, boolean wasAnswered) {
        if (!isCurrent(number)) {
            return;
        }
        confirmed = false;
        Duration pause = pauseAfter(failure, wasAnswered);
        // how loud that is depends on what is followed, which the sink knows
        log.debug("{}: {}; retrying in {} ms", server, failure.getMessage(), pause.toMillis());
        Throwable unused = call(number, () -> sink.disconnected(failure));
        next(number, pause);
    }

    /** Returns the pause after a failure; none if it is the {@link Recovery} that decides when to try again. */
    Duration pauseAfter(ApiServerException failure, boolean wasAnswered) {
        boolean silent = failure.httpCode() == 0
                && (failure.reason() == FailureReason.UNAVAILABLE || failure.reason() == FailureReason.TIMEOUT);
        boolean forAll = false;
        if (Retries.asksForPause(failure)) {
            forAll = recovery.refused(pending, Retries.atOnce().pause(1, 0, failure));
        } else if (failure.httpCode() > 0) {
            recovery.served(pending);
        } else if (silent && !wasAnswered) {
            forAll = recovery.unanswered(pending);
        }
        return forAll ? Duration.ZERO : pauses.after(failure);
    }

    /** Ends attempt {@code number} and begins the next one after {@code pause}. */
    private void next(int number, Duration pause) {
        int following = attempt.after(number);
        if (isCurrent(following)) {
            recovery.repeat(pending, resumePoint.needsList(), pause, () -> steps.run(() -> begin(following)));
        }
    }

    boolean isCurrent(int number) {
        return attempt.is(number);
    }

    /**
     * Calls the sink, unless attempt {@code number} is over. Returns whether the attempt goes on: it does not if the
     * sink threw, for then the sink lacks what it was told, and a list tells it once more.
     */
    boolean tell(int number, Runnable sinkMethod) {
        Throwable thrown = call(number, sinkMethod);
        if (thrown != null) {
            String why = "what came could not be taken in (" + thrown.getClass().getSimpleName() + ")";
            FailureReason reason = FailureReason.UNREADABLE;
            abandon(number, ApiServerException.withoutAnswer(reason, server.toString(), why, thrown), false);
        }
        return isCurrent(number);
    }

    /** Calls the sink, unless attempt {@code number} is over; returns what it threw, which is logged, or null. */
    private @Nullable Throwable call(int number, Runnable sinkMethod) {
        Throwable thrown = sinkCalls.make(() -> isCurrent(number), sinkMethod);
        if (thrown != null) {
            log.error("{}: the sink failed; it is told everything again", server, thrown);
        }
        return thrown;
    }

    /** A step threw what nobody expected. */
    private void broken(Throwable thrown) {
        log.error("{}: a step failed; this is a bug in Podcache", server, thrown);
        abandon(attempt.number(), NoAnswer.thrown(server.toString(), thrown), false);
    }
}
