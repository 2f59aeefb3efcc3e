package dev.podcache.reflector;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.NoAnswer;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The loop of a {@link Reflector}: list, watch, pause, repeat. Thread-safe.
 *
 * @param <T> the model class
 */
final class ReflectorLoop<T> {

    /*
     * There is one attempt at a time: a list, a watch or a pause. Attempts are numbered. Every callback names its
     * attempt and is ignored unless that is the current one. This covers late answers, events of an abandoned watch and
     * timers that lost a race.
     *
     * Everything that happens is a step: the answer to a list, an event, a timer. Steps run one at a time, so during a
     * step only close() can end the attempt, and fields that only steps use need no lock. No lock is held while the
     * server, the sink or the Recovery is called.
     *
     * Confirmed   since                                    an accepted watch              ends when
     * -------------------------------------------------------------------------------------------------------------
     * yes         a list, or an event or bookmark of the   is up to date: connected()     an attempt fails
     *             watch, after the last failure
     * no          a failed attempt                         may be outdated: resumed(),    an event, a bookmark, or that
     *                                                      then a list within 2 s         list has something newer
     *
     * The events of a watch without a version never confirm it: they may be older than a deletion that happened
     * meanwhile.
     */

    private static final Logger log = LoggerFactory.getLogger(Reflector.class);
    static final Duration LIST_TIMEOUT = Duration.ofSeconds(30);

    private final ListerWatcher<T> server;
    final ReflectorSink<T> sink;
    final Timekeeper timekeeper;
    final Recovery recovery;
    private final boolean confirms;
    final Steps steps = new Steps(this::stepThrew);
    private final SinkCalls sinkCalls = new SinkCalls();
    private final CurrentAttempt attempt;
    private final PendingAttempt pending = new PendingAttempt();
    private final RetryPauses pauses = new RetryPauses(); // used in steps only, like the next three
    private final ResumePoint resumePoint = new ResumePoint();
    private boolean confirmed;
    private boolean listsNext; // a streamed list failed, so the next one is a plain list

    /**
     * Makes a loop that is not started.
     *
     * @param confirms whether a list confirms the sink's state after a failure
     */
    ReflectorLoop(ListerWatcher<T> server, ReflectorSink<T> sink, Recovery recovery, boolean confirms) {
        this.server = server;
        this.sink = sink;
        this.timekeeper = recovery.timekeeper;
        this.recovery = recovery;
        this.attempt = new CurrentAttempt(recovery.watchdogs, steps);
        this.confirms = confirms;
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
            recovery.close(pending);
        }
        sinkCalls.awaitEnd(server, timekeeper);
    }

    private void begin(int number) {
        if (!isCurrent(number)) {
            return;
        }
        String from = resumePoint.next();
        if (from != null) {
            watch(number, from);
        } else if (!listsNext && server.streamsLists()) {
            new StreamedAttempt<>(this, server, number).begin(WatchHealth.length(recovery.random()));
        } else {
            listsNext = false;
            list(
                    listed -> {
                        if (replaced(number, listed)) {
                            begin(attempt.after(number));
                        }
                    },
                    failure -> failed(number, failure, false));
        }
    }

    /** Makes a list. Its answer or failure is handled in a step of its own. */
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
                String version = recovery.latestVersion.share(listed.resourceVersion());
                answered.accept(new Listed<>(listed.items(), version));
            } else {
                failed.accept(NoAnswer.because("LIST " + server, "the server", Objects.requireNonNull(thrown)));
            }
        }));
    }

    /** Passes a complete list to the sink. Returns whether the attempt continues. */
    boolean replaced(int number, Listed<T> listed) {
        boolean continues = notifySink(number, () -> sink.replace(listed.items(), listed.resourceVersion()));
        if (continues) {
            resumePoint.listed(listed.resourceVersion());
            confirmed = true;
        }
        return continues;
    }

    /** Handles the failure of a streamed list: a plain list follows, at once or after a pause. */
    void notStreamed(int number, ApiServerException failure, boolean atOnce, boolean wasAnswered) {
        listsNext = true;
        if (atOnce) {
            recovery.served(pending);
            begin(attempt.after(number));
        } else {
            failed(number, failure, wasAnswered);
        }
    }

    private void watch(int number, String from) {
        Duration length = WatchHealth.length(recovery.random());
        WatchHealth health = new WatchHealth(server, from, length, timekeeper.nanoTime());
        // a watch without a version begins with objects that may be older than an unreported deletion
        confirmed &= !from.isEmpty();
        if (confirmed || !confirms) {
            health.confirm();
        }
        WatchAttempt<T> watch = new WatchAttempt<>(this, number, health);
        if (opens(number, () -> server.watch(from, length, watch))) {
            watch.run();
        }
    }

    /** Opens the watch of an attempt. Returns false if that threw. */
    boolean opens(int number, Supplier<WatchHandle> request) {
        try {
            attempt.watches(number, request.get());
            return true;
        } catch (RuntimeException | Error e) {
            failed(number, NoAnswer.thrown("WATCH " + server, e), false);
            return false;
        }
    }

    /** Records that the server answered the current attempt. */
    void answered() {
        recovery.served(pending);
    }

    /** Records that the sink is up to date, and reports it: something newer than the last failure has arrived. */
    void confirmed(int number) {
        confirmed = true;
        if (notifySink(number, sink::connected)) {
            recovery.settle(pending);
        }
    }

    /** Runs a step that confirms the sink's state, at a random moment within {@code within} after {@code pause}. */
    void confirmLater(Duration pause, Duration within, Runnable step) {
        recovery.confirm(pending, pause, within, () -> steps.run(step));
    }

    /** Records that the sink has applied an event with that version, which may be empty. */
    void applied(String version, boolean bookmark) {
        pauses.reset();
        resumePoint.applied(version, bookmark);
    }

    /** Records that the sink has applied a list with that version, which may be empty, while a watch is open. */
    void listApplied(String version) {
        pauses.reset();
        if (!version.isEmpty()) {
            resumePoint.listed(version);
        }
    }

    /** Replaces the watchdog of an attempt. */
    void watchdog(int number, Duration due, Runnable step) {
        attempt.watchdog(number, due, step);
    }

    /** Handles the end of the watch of an attempt. */
    void ended(int number, WatchHealth health, @Nullable ApiServerException failure) {
        long now = timekeeper.nanoTime();
        boolean tooEarly = failure == null && pauses.endedEarlyAgain(health.isEarly(now));
        WatchEnd end = health.ended(failure, tooEarly, now);
        if (health.healthy(now)) {
            pauses.reset();
        }
        if (end instanceof WatchEnd.Unresumable) {
            resumePoint.requireList();
        }
        if (end instanceof WatchEnd.Broken broken) {
            failed(number, broken.failure(), health.isOpen());
        } else if (end instanceof WatchEnd.Unresumable unresumable) {
            failed(number, unresumable.failure(), health.isOpen());
        } else {
            next(number, Duration.ZERO);
        }
    }

    /**
     * Ends the attempt as failed, and repeats it after a pause: from the last version if {@code resumes}, otherwise by
     * a list.
     */
    void abandon(int number, ApiServerException failure, boolean resumes) {
        if (!isCurrent(number)) {
            return;
        }
        if (!resumes) {
            resumePoint.requireList();
        }
        failed(attempt.after(number), failure, true);
    }

    private void failed(int number, ApiServerException failure, boolean wasAnswered) {
        if (!isCurrent(number)) {
            return;
        }
        confirmed = false;
        Duration pause = pauseAfter(failure, wasAnswered);
        // the sink knows whether this deserves a warning
        log.debug("{}: {}; retrying in {} ms", server, failure.getMessage(), pause.toMillis());
        ApiServerException unused = sinkCalls.run(server, () -> isCurrent(number), () -> sink.disconnected(failure));
        next(number, pause);
    }

    /** Returns the pause after a failure; zero if the {@link Recovery} decides when to try again. */
    Duration pauseAfter(ApiServerException failure, boolean wasAnswered) {
        return pauses.after(failure, wasAnswered, recovery, pending);
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
     * Calls the sink, unless attempt {@code number} is over. Returns whether the attempt continues. It does not if the
     * sink threw: the sink then lacks an event, and a list repairs it.
     */
    boolean notifySink(int number, Runnable sinkMethod) {
        ApiServerException failure = sinkCalls.run(server, () -> isCurrent(number), sinkMethod);
        if (failure != null) {
            abandon(number, failure, false);
        }
        return isCurrent(number);
    }

    /** Handles an unexpected exception of a step. */
    private void stepThrew(Throwable thrown) {
        log.error("{}: a step threw; this is a bug in Podcache", server, thrown);
        abandon(attempt.number(), NoAnswer.thrown(server.toString(), thrown), false);
    }
}
