package dev.podcache.kubelet.nodestatus;

import com.google.common.collect.ImmutableMap;
import com.google.common.util.concurrent.AbstractService;
import dev.podcache.kubelet.runtime.RuntimeStatus;
import dev.podcache.time.Pause;
import dev.podcache.time.SerialRun;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Queries the status of the container runtime every 5 s, and derives the errors that make the node not ready. After
 * upstream's {@code runtimeState} and {@code updateRuntimeUp}.
 *
 * <p>This Guava service is running after the first query has ended or 5 s have passed. Start it before the node's
 * status is first computed; otherwise that status says that the runtime was not checked yet. Thread-safe.
 */
public final class RuntimeHealth extends AbstractService {

    /*
     * Queries run one at a time: while the runtime does not answer, no other query starts. So a runtime that hangs costs
     * one thread, and is reported as down 30 s after its last good answer. An exception does not change the last answer.
     * A query that is requested while another runs follows it, because the answer may be older than the request. SerialRun sees
     * to both.
     *
     * `lock` guards the fields marked so. No other lock is taken, and no foreign code is called, while it is held.
     */

    private static final Logger log = LoggerFactory.getLogger(RuntimeHealth.class);

    private static final Duration PERIOD = Duration.ofSeconds(5);
    private static final Duration STALE_AFTER = Duration.ofSeconds(30);

    private static final String NULL_ANSWER = "PodRuntime.health() returned null instead of a RuntimeStatus";

    private final Supplier<RuntimeStatus> runtime;
    private final ImmutableMap<String, Supplier<Optional<String>>> checks;
    private final SerialRun queries;
    private final Timekeeper timekeeper;
    private final Pause nextQuery;
    private final Pause stale;
    private volatile Runnable listener = () -> {};

    private final Object lock = new Object();
    private @Nullable RuntimeStatus lastStatus; // guarded by lock
    private @Nullable Long lastGood; // nanoseconds; guarded by lock
    private boolean notifiedStarted; // guarded by lock

    /**
     * Creates a service that is not started.
     *
     * @param runtime queries the runtime; may block. An exception is logged and counts as no answer. A null answer
     *     makes the node not ready
     * @param checks further checks by name, in the order in which their errors are reported; each returns an error or
     *     empty, and is called whenever the node's status is computed, so it must not block; an exception is an error
     * @param threads runs the queries; a query that hangs must not keep other tasks waiting
     */
    public RuntimeHealth(
            Supplier<RuntimeStatus> runtime,
            Map<String, Supplier<Optional<String>>> checks,
            Executor threads,
            Timekeeper timekeeper) {
        this.runtime = runtime;
        this.checks = ImmutableMap.copyOf(checks);
        this.queries = SerialRun.on(threads, this::runQuery);
        this.timekeeper = timekeeper;
        this.nextQuery = new Pause(timekeeper);
        this.stale = new Pause(timekeeper);
    }

    /**
     * Sets the listener that is called when the runtime answers otherwise than before, or is down. It must not block.
     * Replaces the listener that was set before.
     */
    public void onChange(Runnable changed) {
        this.listener = changed;
    }

    @Override
    protected void doStart() {
        tick();
    }

    @Override
    protected void doStop() {
        nextQuery.close();
        stale.close();
        notifyStopped();
    }

    private void tick() {
        nextQuery.then(PERIOD, this::tick);
        if (!queries.requestUnlessRunning()) {
            notifyStartedOnce();
        }
    }

    /** Queries the runtime at once, or after the current query. Does nothing unless this service runs. */
    public void query() {
        if (isRunning()) {
            queries.request();
        }
    }

    private void runQuery() {
        try {
            record(answer());
        } catch (RuntimeException | Error e) {
            // includes Error: a runtime that lacks a class must not end the queries
            logFailure(e);
        } finally {
            notifyStartedOnce();
        }
    }

    private static void logFailure(Throwable failure) {
        try {
            log.warn(
                    "query of the container runtime's status failed: {}; retrying in {} s",
                    failure.toString(),
                    PERIOD.toSeconds());
        } catch (Throwable notLogged) {
            // no memory, or a log that fails: the queries go on
        }
    }

    /** Returns the runtime's answer. A null is a fault that lasts, so it counts at once, unlike an exception. */
    private RuntimeStatus answer() {
        @Nullable RuntimeStatus status = runtime.get();
        if (status != null) {
            return status;
        }
        RuntimeStatus notReady = RuntimeStatus.notReady(version(), NULL_ANSWER);
        boolean isNew;
        synchronized (lock) {
            isNew = !notReady.equals(lastStatus);
        }
        if (isNew) {
            log.warn("{}; the node is not ready until it returns one", NULL_ANSWER);
        }
        return notReady;
    }

    private void record(RuntimeStatus status) {
        long now = timekeeper.nanoTime();
        boolean changed;
        synchronized (lock) {
            changed = !status.equals(lastStatus) || stalenessLocked().isPresent();
            lastStatus = status;
            if (status.problem().isEmpty()) {
                lastGood = now;
            }
        }
        if (status.problem().isEmpty()) {
            stale.then(STALE_AFTER, () -> listener.run());
        }
        if (changed) {
            listener.run();
        }
    }

    private void notifyStartedOnce() {
        synchronized (lock) {
            if (notifiedStarted) {
                return;
            }
            notifiedStarted = true;
        }
        notifyStarted();
    }

    /** Returns why containers cannot run; empty if they can. Does not block. */
    List<String> runtimeErrors() {
        List<String> errors = new ArrayList<>();
        RuntimeStatus known;
        synchronized (lock) {
            known = lastStatus;
            stalenessLocked().ifPresent(errors::add);
        }
        checks.forEach(
                (name, check) -> problem(check).ifPresent(problem -> errors.add(name + " is not healthy: " + problem)));
        if (known != null) {
            known.problem().ifPresent(problem -> errors.add("container runtime not ready: " + problem));
        }
        return errors;
    }

    private Optional<String> stalenessLocked() {
        if (lastGood == null) {
            return Optional.of("container runtime status check may not have completed yet");
        }
        boolean stale = timekeeper.nanoTime() - lastGood >= STALE_AFTER.toNanos();
        return stale ? Optional.of("container runtime is down") : Optional.empty();
    }

    private static Optional<String> problem(Supplier<Optional<String>> check) {
        try {
            return check.get();
        } catch (RuntimeException | Error e) {
            return Optional.of(e.toString());
        }
    }

    /** Returns the version that the runtime reported last; {@code Unknown} before its first answer. Does not block. */
    public String version() {
        synchronized (lock) {
            return lastStatus == null ? "Unknown" : lastStatus.version();
        }
    }

    /** Returns why pods have no network; empty if they have. Does not block. */
    List<String> networkErrors() {
        RuntimeStatus known;
        synchronized (lock) {
            known = lastStatus;
        }
        if (known == null) {
            return List.of("network state unknown");
        }
        return known.networkProblem().stream()
                .map(problem -> "container runtime network not ready: " + problem)
                .toList();
    }
}
