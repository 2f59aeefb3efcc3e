package dev.podcache.reflector;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.NoAnswer;
import dev.podcache.apiserver.Retries;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.object.FailureReason;
import dev.podcache.reflector.AttemptQueues.NextAttempt;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lists a collection and watches it from the list's version on, with one request if the server
 * {@linkplain ListerWatcher#streamsLists streams lists}. Resumes a watch that ended from the last version seen, and
 * lists again if the server no longer knows that version. Failed attempts are repeated for ever: first after at most
 * 200 ms, then after pauses that double up to 30 s, or later if the server asks for a pause (Retry-After) or is
 * unreachable, see {@link Recovery}. Thread-safe.
 *
 * <p>A watch that is dead is given up at most 10 s after it counts as dead. It counts as dead 30 s after the time that
 * the server was asked to keep it open, which is 30 to 60 minutes, and after 90 s of silence if it has brought a
 * bookmark: a server that sends one sends more.
 *
 * @param <T> the model class
 */
public final class Reflector<T> implements AutoCloseable {

    /*
     * There is one attempt at a time: a list, a watch or a pause. Attempts are numbered. Every callback names its
     * attempt and is ignored unless that is the current one. This covers late answers, events of an abandoned watch and
     * timers that lost a race.
     *
     * Confinement. Everything that happens is a step: the answer to a list, an event, a timer, a sweep. Steps run one
     * at a time, in the order of arrival. A step runs on the thread that submits it, or on the thread that is running
     * another step. So a step that submits another never contains it, and no thread waits. During a step, only close()
     * can end the attempt. The sink is called in steps only.
     *
     * The monitor guards the current attempt, and which step runs. Nothing is called under it. It is never held
     * together with the lock of the Recovery, so there is no order between the two. A call of the sink begins at the
     * moment at which the monitor says that its attempt is current; close() ends the attempt under the monitor, and so
     * no call begins after it.
     *
     * Throws. A sink, server or timer that throws has failed the attempt: it is repeated, by a list if the sink has missed
     * something, or if disconnected() throws after a list that was to confirm. If even that cannot be arranged, because memory
     * is missing, `damage` says so, and the next step arranges it: the sweep of the Recovery, after 10 s at the latest, if
     * nothing comes before.
     *
     * Confirmed   since                                    an accepted watch              ends when
     * -------------------------------------------------------------------------------------------------------------
     * yes         a list, or a bookmark of the watch,      is up to date: connected()     an attempt fails
     *             after the last failure
     * no          a failed attempt, or a watch ended in    may be outdated: resumed(),    a bookmark, or that list
     *             good order and no other was accepted     then a list within 2 s
     *
     * An event does not confirm: others that happened while there was no watch may follow it. A bookmark of a watch
     * without a version does not confirm either: such a watch does not tell what was deleted before it.
     */

    private static final Logger log = LoggerFactory.getLogger(Reflector.class);
    private static final Duration LIST_TIMEOUT = Duration.ofSeconds(30);

    /** How many streamed lists in a row may be answered 429 before a plain list is made instead. */
    private static final int THROTTLED_STREAMS = 2;

    final ListerWatcher<T> server;
    final ReflectorSink<T> sink;
    final Recovery recovery;
    private final boolean confirms; // with a list, what may be outdated after a failure
    private final NextAttempt next = new NextAttempt(this); // guarded by the Recovery

    private int attempt; // guarded by this, like the next five: the number of the current one; 0 before the first
    private boolean closed;
    private volatile @Nullable WatchHandle handle; // written under this; not null while a watch is open or opened
    private Timekeeper.@Nullable Scheduled timer;
    private boolean running;
    private @Nullable Queue<Runnable> waiting; // made on demand: there are thousands of instances

    private volatile @Nullable Throwable damage; // thrown by a step that could not be followed by another attempt

    // used in steps only, like all that follows
    final RetryPauses pauses = new RetryPauses();
    private @Nullable WatchAttempt<T> watch;
    private @Nullable String version; // the next watch begins with it; "" for none; null if a list is next
    private boolean versionless; // the watch began without a version and has had no bookmark yet
    private boolean confirmed; // see the table above
    private boolean unreplaced; // a watch ended in good order, none was accepted since, and the sink does not know
    private boolean sweptUnreplaced; // the last sweep found it so
    private boolean listsNext; // a streamed list failed, so the next one is a plain list
    private int throttledStreams; // in a row
    private @Nullable ApiServerException throttled; // how the last of them failed

    /**
     * Makes a reflector of many objects, not started. It considers the sink up to date once a watch is accepted:
     * another list of the whole collection would cost the server too much.
     *
     * @param server the collection to list and watch
     * @param sink receives the objects
     * @param recovery shared by all reflectors of the server
     */
    public Reflector(ListerWatcher<T> server, ReflectorSink<T> sink, Recovery recovery) {
        this(server, sink, recovery, false);
    }

    private Reflector(ListerWatcher<T> server, ReflectorSink<T> sink, Recovery recovery, boolean confirms) {
        this.server = Objects.requireNonNull(server, "server");
        this.sink = Objects.requireNonNull(sink, "sink");
        this.recovery = Objects.requireNonNull(recovery, "recovery");
        this.confirms = confirms;
    }

    /**
     * Returns a reflector of one object, not started. After a failure, it lists the object once more unless a bookmark
     * comes first, see {@link ReflectorSink#resumed}.
     *
     * @param server lists and watches the object by name
     * @param recovery shared by all reflectors of the server
     */
    public static <T> Reflector<T> ofOneObject(ListerWatcher<T> server, ReflectorSink<T> sink, Recovery recovery) {
        return new Reflector<>(server, sink, recovery, true);
    }

    /**
     * Returns a reflector of many objects, not started, that confirms them after a failure as {@link #ofOneObject}
     * does: unless a bookmark comes first, it lists the collection once more.
     *
     * @param recovery shared by all reflectors of the server
     */
    public static <T> Reflector<T> confirming(ListerWatcher<T> server, ReflectorSink<T> sink, Recovery recovery) {
        return new Reflector<>(server, sink, recovery, true);
    }

    /** Starts with a list. Returns at once. Idempotent; without effect once closed. */
    public void start() {
        synchronized (this) {
            if (attempt > 0 || closed) {
                return;
            }
            attempt = 1;
        }
        recovery.open(next, () -> begin(1));
    }

    /**
     * Puts this reflector's attempts before those of others until the object is up to date, because a get waits for it.
     * Returns at once.
     */
    public void hurry() {
        recovery.hurry(next);
    }

    /**
     * Repeats a failed attempt before its pause is over, but not within 250 ms of the failure, because what it failed
     * for may have passed: access was granted, or another request was answered. Not for a failure with which the server
     * asked for a pause. Without effect if no attempt waits. Does not shorten an outage. Returns at once.
     */
    public void retry() {
        recovery.retry(next);
    }

    /**
     * Names the connection that carries the watch, see {@link WatchHandle#connection}; "" while no watch is open. Takes
     * no lock.
     */
    public String connection() {
        WatchHandle open = handle;
        return open == null ? "" : open.connection();
    }

    /**
     * Ends the watch. After the return, no call of the sink begins. Does not wait: a call that another thread has begun
     * goes on, and what it throws is no failure. May be called from the sink and under any lock. Idempotent.
     */
    @Override
    public void close() {
        boolean first;
        WatchHandle open;
        Timekeeper.Scheduled set;
        synchronized (this) {
            first = attempt > 0 && !closed;
            closed = true;
            open = handle;
            set = timer;
            handle = null;
            timer = null;
        }
        try {
            release(open, set);
        } finally {
            if (first) {
                recovery.close(next);
            }
        }
    }

    /** Runs a step, now or after those that run. Never throws. */
    void step(Runnable step) {
        synchronized (this) {
            if (running) {
                enqueueLocked(step);
                return;
            }
            running = true;
        }
        for (Runnable now = step; now != null; now = nextStep()) {
            try {
                repair();
                now.run();
            } catch (RuntimeException | Error e) {
                threw(e);
            }
        }
    }

    private void enqueueLocked(Runnable step) {
        try {
            if (waiting == null) {
                waiting = new ArrayDeque<>(2);
            }
            waiting.add(step);
        } catch (OutOfMemoryError e) {
            // a list makes up for the lost step
            damage = e;
        }
    }

    private synchronized @Nullable Runnable nextStep() {
        Runnable step = waiting == null ? null : waiting.poll();
        if (step == null) {
            waiting = null;
            running = false;
        }
        return step;
    }

    /** Handles an unexpected exception of a step. Never throws: no further step would ever run. */
    private void threw(Throwable thrown) {
        damage = thrown;
        try {
            log.error("{}: a step threw; this is a bug in Podcache; listing again", server, thrown);
        } catch (RuntimeException | Error unreported) {
            // no memory, or a log that fails: listing is more important
        }
        try {
            repair();
        } catch (RuntimeException | Error again) {
            // the next step repairs it
            damage = again;
        }
    }

    /** If a step has thrown or was lost, ends the attempt as failed: the sink may lack something, so a list follows. */
    private void repair() {
        Throwable thrown = damage;
        if (thrown != null) {
            // first, because the attempt that follows may lose a step too
            damage = null;
            abandon(currentAttempt(), NoAnswer.thrown(server.toString(), thrown), false);
        }
    }

    /**
     * Gives up the watch if it is dead, and reports one that ended in good order if none has replaced it. Called now
     * and then by the Recovery.
     */
    void sweep() {
        step(() -> {
            if (watch != null) {
                watch.check();
            }
            if (unreplaced && (sweptUnreplaced || recovery.isOutage())) {
                notReplaced();
            }
            sweptUnreplaced = unreplaced;
        });
    }

    /** Reports that the sink may be outdated. The next attempt goes on, whether it waits or is being made. */
    private void notReplaced() {
        outdated();
        String why = "the server ended the watch in good order, and none has replaced it yet";
        ApiServerException failure =
                ApiServerException.withoutAnswer(FailureReason.UNAVAILABLE, "WATCH " + server, why, null);
        tellSink(currentAttempt(), () -> sink.disconnected(failure));
    }

    private void outdated() {
        confirmed = false;
        unreplaced = false;
    }

    private synchronized int currentAttempt() {
        return attempt;
    }

    synchronized boolean isCurrent(int number) {
        return attempt == number && !closed;
    }

    /** Ends attempt {@code number} unless it has ended. Returns the number of the next attempt. */
    private int after(int number) {
        WatchHandle open = null;
        Timekeeper.Scheduled set = null;
        synchronized (this) {
            if (attempt == number) {
                attempt++;
                open = handle;
                set = timer;
                handle = null;
                timer = null;
            }
        }
        watch = null;
        release(open, set);
        return number + 1;
    }

    private static void release(@Nullable WatchHandle open, Timekeeper.@Nullable Scheduled timer) {
        try {
            if (timer != null) {
                timer.cancel();
            }
        } finally {
            if (open != null) {
                open.close();
            }
        }
    }

    /** Runs a step of an attempt after {@code delay}, instead of the one that was to run before. */
    void setTimer(int number, Duration delay, Runnable step) {
        replaceTimer(number, recovery.timekeeper.schedule(delay, () -> step(step)));
    }

    void cancelTimer(int number) {
        replaceTimer(number, null);
    }

    private void replaceTimer(int number, Timekeeper.@Nullable Scheduled set) {
        Timekeeper.Scheduled unused = set;
        synchronized (this) {
            if (isCurrent(number)) {
                unused = timer;
                timer = set;
            }
        }
        if (unused != null) {
            unused.cancel();
        }
    }

    private void begin(int number) {
        if (!isCurrent(number)) {
            return;
        }
        String from = version;
        versionless = from != null && from.isEmpty();
        if (from == null) {
            beginList(number);
        } else {
            if (versionless) {
                // what it brings has no version to resume from
                version = null;
            }
            watch(number, from);
        }
    }

    private void watch(int number, String from) {
        // a watch without a version begins with objects that may be older than an unreported deletion
        confirmed &= !from.isEmpty();
        Duration length = WatchAttempt.length(recovery.random());
        WatchAttempt<T> begun = WatchAttempt.from(from, this, number, length);
        open(number, begun, () -> server.watch(from, length, begun));
    }

    private void beginList(int number) {
        if (!streamsNext()) {
            listPlainly(number);
        } else if (tellSink(number, sink::listing)) {
            Duration length = WatchAttempt.length(recovery.random());
            WatchAttempt<T> begun = WatchAttempt.streamingList(this, number, length);
            if (open(number, begun, () -> server.streamList(length, begun, () -> listWritten(number)))) {
                begun.awaitOpening();
            }
        }
    }

    /** Sends the request of a watch, and keeps the watch until the attempt ends. Returns false if sending threw. */
    private boolean open(int number, WatchAttempt<T> begun, Supplier<WatchHandle> request) {
        WatchHandle opened;
        try {
            opened = request.get();
        } catch (RuntimeException | Error e) {
            failed(number, NoAnswer.thrown("WATCH " + server, e), false);
            return false;
        }
        watch = begun;
        boolean kept;
        synchronized (this) {
            kept = isCurrent(number);
            if (kept) {
                handle = opened;
            }
        }
        if (!kept) {
            opened.close();
        }
        return kept;
    }

    private boolean streamsNext() {
        // in an outage, the one request that tries must say whether the server serves anything
        boolean throttles = throttledStreams >= THROTTLED_STREAMS || (throttledStreams > 0 && recovery.isOutage());
        return !listsNext && !throttles && server.streamsLists();
    }

    private void listPlainly(int number) {
        ApiServerException insteadOf = throttled;
        listsNext = false;
        forgetThrottled();
        list(
                number,
                listed -> {
                    if (replaced(number, listed)) {
                        begin(after(number));
                    }
                },
                failure -> notListed(number, failure, insteadOf));
    }

    /**
     * Handles the failure of a plain list.
     *
     * @param insteadOf the failure of the streamed list that it was made instead of, because that was answered 429
     */
    private void notListed(int number, ApiServerException failure, @Nullable ApiServerException insteadOf) {
        if (insteadOf != null && failure.reason() == FailureReason.FORBIDDEN) {
            // a Role with the verb watch only, which a streamed list needs: that is no refusal of the object
            recovery.served(next);
            failedAndPauses(number, insteadOf, pauses.ofReflector(insteadOf, recovery));
        } else {
            failed(number, failure, false);
        }
    }

    /** Makes a plain list. Its answer or failure is handled in a step of its own. */
    void list(int number, Consumer<Listed<T>> onList, Consumer<ApiServerException> onFailure) {
        if (!tellSink(number, sink::listing)) {
            return;
        }
        CompletableFuture<Listed<T>> answer;
        try {
            answer = server.list(LIST_TIMEOUT, () -> listWritten(number));
        } catch (RuntimeException | Error e) {
            onFailure.accept(NoAnswer.thrown("LIST " + server, e));
            return;
        }
        answer.whenComplete((listed, thrown) -> {
            try {
                step(() -> {
                    if (listed != null) {
                        recovery.served(next);
                        onList.accept(new Listed<>(listed.items(), recovery.share(listed.resourceVersion())));
                    } else {
                        onFailure.accept(
                                NoAnswer.because("LIST " + server, "the server", Objects.requireNonNull(thrown)));
                    }
                });
            } catch (OutOfMemoryError e) {
                // the sweep makes up for the lost answer
                damage = e;
            }
        });
    }

    /** Handles that the request of a list was written to the server. */
    private void listWritten(int number) {
        step(() -> tellSink(number, sink::listWritten));
    }

    /** Passes a complete list to the sink. Returns whether the attempt continues. */
    boolean replaced(int number, Listed<T> listed) {
        boolean continues = tellSink(number, () -> sink.replace(listed.items(), listed.resourceVersion()));
        if (continues) {
            version = listed.resourceVersion();
            versionless = false;
            confirmed = true;
            forgetThrottled();
        }
        return continues;
    }

    /**
     * Handles the failure of a streamed list. A plain list follows, at once or after a pause; but if the server asks
     * for a pause (429), which it does while its cache lags, another streamed list follows first.
     */
    void notStreamed(int number, ApiServerException failure, boolean atOnce, boolean wasAnswered) {
        if (failure.reason() == FailureReason.THROTTLED) {
            throttledStreams++;
            throttled = failure;
        } else {
            listsNext = true;
            forgetThrottled();
        }
        if (atOnce) {
            recovery.served(next);
            begin(after(number));
        } else {
            failed(number, failure, wasAnswered);
        }
    }

    private void forgetThrottled() {
        throttledStreams = 0;
        throttled = null;
    }

    /** Records that the server answered the current attempt. */
    void answered() {
        recovery.served(next);
    }

    /** Records that the server accepted the watch. Returns whether that makes the sink up to date. */
    boolean accepted() {
        unreplaced = false;
        answered();
        return confirmed || !confirms;
    }

    /** Records that the sink is up to date, and reports it: something newer than the last failure has arrived. */
    void confirmed(int number) {
        confirmed = true;
        if (tellSink(number, sink::connected)) {
            recovery.settle(next);
        }
    }

    /** Runs a step that confirms the sink's state, at a random moment within {@code within} after {@code pause}. */
    void confirmLater(Duration pause, Duration within, Runnable step) {
        recovery.confirm(next, pause, within, step);
    }

    /** Records that the sink has applied an event of the watch. Its version may be empty. */
    void applied(String applied, boolean bookmark) {
        pauses.reset();
        versionless &= !bookmark;
        // a watch without a version begins with the existing objects; their versions are old, so it cannot resume from
        // them
        if (!applied.isEmpty() && !versionless) {
            version = applied;
        }
    }

    /** Records that the sink has applied a list with that version, which may be empty, while a watch is open. */
    void listApplied(String listed) {
        pauses.reset();
        if (!listed.isEmpty()) {
            version = listed;
            versionless = false;
        }
    }

    /**
     * Handles the end of the watch of an attempt.
     *
     * @param failure null if the server ended it in good order, as servers do from time to time
     * @param resumes whether a watch can resume from the last version
     */
    void ended(int number, @Nullable ApiServerException failure, boolean resumes, boolean wasAnswered) {
        if (!resumes) {
            version = null;
        }
        if (failure == null) {
            if (confirmed && wasAnswered) {
                unreplaced = true;
                sweptUnreplaced = false;
            }
            repeat(number, Duration.ZERO);
        } else {
            failed(number, failure, wasAnswered);
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
            version = null;
        }
        // this attempt ends first, so that the sink gets nothing of it after disconnected()
        failed(after(number), failure, true);
    }

    private void failed(int number, ApiServerException failure, boolean wasAnswered) {
        if (!isCurrent(number)) {
            return;
        }
        if (failure.reason() == FailureReason.FORBIDDEN && !Retries.asksForPause(failure)) {
            refused(number, failure, wasAnswered);
        } else {
            failedAndPauses(number, failure, pauseAfter(failure, wasAnswered));
        }
    }

    /** Handles a refusal, which the sink may know to be an early one: then the same is asked again soon. */
    private void refused(int number, ApiServerException failure, boolean wasAnswered) {
        outdated();
        if (failure.httpCode() > 0) {
            recovery.served(next);
        }
        AtomicReference<@Nullable Duration> soon = new AtomicReference<>();
        ApiServerException unused = callSink(number, () -> {
            sink.disconnected(failure);
            soon.set(sink.pauseAfterRefusal());
        });
        Duration early = soon.get();
        Duration pause = early == null ? pauseAfter(failure, wasAnswered) : early;
        log.debug("{}: {}; retrying in {} ms", server, failure.getMessage(), pause.toMillis());
        int following = after(number);
        if (!isCurrent(following)) {
            return;
        }
        if (early == null) {
            recovery.repeat(next, version == null, pause, () -> begin(following));
        } else {
            recovery.repeatSoon(next, pause, () -> begin(following));
        }
    }

    private void failedAndPauses(int number, ApiServerException failure, Duration pause) {
        if (!isCurrent(number)) {
            return;
        }
        outdated();
        // the sink knows whether this deserves a warning
        log.debug("{}: {}; retrying in {} ms", server, failure.getMessage(), pause.toMillis());
        ApiServerException unused = callSink(number, () -> sink.disconnected(failure));
        repeat(number, pause);
    }

    /** Returns the pause after a failure; zero if the {@link Recovery} decides when to try again. */
    Duration pauseAfter(ApiServerException failure, boolean wasAnswered) {
        return pauses.after(failure, wasAnswered, recovery, next);
    }

    /** Ends attempt {@code number} and begins the next one after {@code pause}. */
    private void repeat(int number, Duration pause) {
        int following = after(number);
        if (isCurrent(following)) {
            recovery.repeat(next, version == null, pause, () -> begin(following));
        }
    }

    /**
     * Calls the sink, unless attempt {@code number} is over. Returns whether the attempt continues. It does not if the
     * sink threw: the sink then lacks an event, and a list repairs it.
     */
    boolean tellSink(int number, Runnable call) {
        ApiServerException failure = callSink(number, call);
        if (failure != null) {
            abandon(number, failure, false);
        }
        return isCurrent(number);
    }

    /** Calls the sink, unless attempt {@code number} is over. Returns the failure of the attempt if the sink threw. */
    private @Nullable ApiServerException callSink(int number, Runnable call) {
        if (!isCurrent(number)) {
            return null;
        }
        try {
            call.run();
            return null;
        } catch (RuntimeException | Error e) {
            // an Error too: if it ended the loop, the sink would stay outdated without notice
            if (!isCurrent(number)) {
                log.debug("{}: the sink threw after the reflector was closed", server, e);
                return null;
            }
            log.error("{}: the sink threw; retrying", server, e);
            String why = "the sink threw " + e.getClass().getSimpleName();
            return ApiServerException.withoutAnswer(FailureReason.UNREADABLE, server.toString(), why, e);
        }
    }
}
