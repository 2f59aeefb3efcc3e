package dev.podcache.kubelet.nodestatus;

import com.google.common.collect.ImmutableMap;
import com.google.common.util.concurrent.AbstractService;
import dev.podcache.kubelet.runtime.RuntimeStatus;
import dev.podcache.time.Pause;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
     * Queries run on a thread that may block, one at a time: while the runtime does not answer, no other query starts.
     * So a runtime that hangs costs one thread, and is reported as down 30 s after its last good answer. An exception
     * does not change the last answer.
     *
     * `lock` guards the fields marked so. No other lock is taken, and no foreign code is called, while it is held.
     */

    private static final Logger log = LoggerFactory.getLogger(RuntimeHealth.class);

    private static final Duration PERIOD = Duration.ofSeconds(5);
    private static final Duration STALE_AFTER = Duration.ofSeconds(30);

    private final Supplier<RuntimeStatus> runtime;
    private final ImmutableMap<String, Supplier<Optional<String>>> checks;
    private final Timekeeper timekeeper;
    private final Pause pause;

    private final Object lock = new Object();
    private @Nullable RuntimeStatus lastStatus; // guarded by lock
    private @Nullable Long lastGood; // nanoseconds; guarded by lock
    private boolean querying; // guarded by lock
    private boolean notifiedStarted; // guarded by lock

    /**
     * Creates a service that is not started.
     *
     * @param runtime queries the runtime; may block; an exception is logged and counts as no answer
     * @param checks further checks by name, in the order in which their errors are reported; each returns an error or
     *     empty, and is called whenever the node's status is computed, so it must not block; an exception is an error
     */
    public RuntimeHealth(
            Supplier<RuntimeStatus> runtime, Map<String, Supplier<Optional<String>>> checks, Timekeeper timekeeper) {
        this.runtime = runtime;
        this.checks = ImmutableMap.copyOf(checks);
        this.timekeeper = timekeeper;
        this.pause = new Pause(timekeeper);
    }

    @Override
    protected void doStart() {
        tick();
    }

    @Override
    protected void doStop() {
        pause.close();
        notifyStopped();
    }

    private void tick() {
        pause.then(PERIOD, this::tick);
        boolean wasQuerying;
        synchronized (lock) {
            wasQuerying = querying;
            querying = true;
        }
        if (wasQuerying) {
            notifyStartedOnce();
        } else {
            timekeeper.blocking().execute(this::query);
        }
    }

    private void query() {
        try {
            record(runtime.get());
        } catch (RuntimeException e) {
            log.warn("query of the container runtime's status failed: {}; retrying in {}", e.toString(), PERIOD);
        } finally {
            synchronized (lock) {
                querying = false;
            }
            notifyStartedOnce();
        }
    }

    private void record(RuntimeStatus status) {
        long now = timekeeper.nanoTime();
        synchronized (lock) {
            lastStatus = status;
            if (status.problem().isEmpty()) {
                lastGood = now;
            }
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
        } catch (RuntimeException e) {
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
