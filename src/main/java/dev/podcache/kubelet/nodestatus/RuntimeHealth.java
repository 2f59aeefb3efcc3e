package dev.podcache.kubelet.nodestatus;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.util.concurrent.AbstractService;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the container runtime every 5 s how it is, and says what of its answers keeps the node from being ready. After
 * upstream's {@code runtimeState} and {@code updateRuntimeUp}.
 *
 * <p>It is running, as a Guava service, once it got its first answer or 5 s passed without one. Start it before the
 * node's status is first computed, or that status says that the runtime was not checked yet. Thread-safe.
 */
public final class RuntimeHealth extends AbstractService {

    /*
     * The runtime is asked on a thread that may block, at most once at a time: while it does not answer, the ticks go
     * on and ask nothing. So a runtime that hangs costs one thread, and its silence shows as "down" once the last good
     * answer is 30 s old. An exception instead of an answer changes nothing either: only silence counts.
     *
     * lock guards the fields marked so. Nothing is called under it but Timekeeper.schedule.
     */

    private static final Logger log = LoggerFactory.getLogger(RuntimeHealth.class);

    private static final Duration PERIOD = Duration.ofSeconds(5);
    private static final Duration STALE_AFTER = Duration.ofSeconds(30);

    private final Supplier<RuntimeStatus> runtime;
    private final ImmutableMap<String, Supplier<Optional<String>>> checks;
    private final Timekeeper timekeeper;

    private final Object lock = new Object();
    private @Nullable RuntimeStatus answer; // guarded by lock
    private @Nullable Long lastGood; // guarded by lock
    private Timekeeper.@Nullable Scheduled next; // guarded by lock
    private boolean asking; // guarded by lock
    private boolean announced; // guarded by lock
    private boolean stopped; // guarded by lock

    /**
     * Prepares the questions.
     *
     * @param runtime asks the runtime; may block; whatever it throws is logged, and is no answer
     * @param checks further checks by name, asked whenever the node's status is computed, so they must not block: each
     *     says what is wrong, or nothing. An exception is something wrong
     */
    public RuntimeHealth(
            Supplier<RuntimeStatus> runtime,
            ImmutableMap<String, Supplier<Optional<String>>> checks,
            Timekeeper timekeeper) {
        this.runtime = runtime;
        this.checks = checks;
        this.timekeeper = timekeeper;
    }

    @Override
    protected void doStart() {
        tick();
    }

    @Override
    protected void doStop() {
        synchronized (lock) {
            stopped = true;
            if (next != null) {
                next.cancel();
            }
        }
        notifyStopped();
    }

    private void tick() {
        boolean ask;
        synchronized (lock) {
            if (stopped) {
                return;
            }
            next = timekeeper.schedule(PERIOD, this::tick);
            ask = !asking;
            asking = true;
        }
        if (ask) {
            timekeeper.blocking().execute(this::ask);
        } else {
            announce();
        }
    }

    private void ask() {
        try {
            learn(runtime.get());
        } catch (RuntimeException e) {
            log.warn("Cannot ask the container runtime how it is: {}", e.toString());
        } finally {
            synchronized (lock) {
                asking = false;
            }
            announce();
        }
    }

    private void learn(RuntimeStatus status) {
        long now = timekeeper.nanoTime();
        synchronized (lock) {
            answer = status;
            if (status.runtimeProblem().isEmpty()) {
                lastGood = now;
            }
        }
    }

    /** The service may begin only once. */
    private void announce() {
        synchronized (lock) {
            if (announced) {
                return;
            }
            announced = true;
        }
        notifyStarted();
    }

    /** Why containers cannot be run; empty if they can. Does not block. */
    ImmutableList<String> runtimeErrors() {
        ImmutableList.Builder<String> errors = ImmutableList.builder();
        RuntimeStatus known;
        synchronized (lock) {
            known = answer;
            stalenessLocked().ifPresent(errors::add);
        }
        checks.forEach(
                (name, check) -> problem(check).ifPresent(problem -> errors.add(name + " is not healthy: " + problem)));
        if (known != null) {
            known.runtimeProblem().ifPresent(problem -> errors.add("container runtime not ready: " + problem));
        }
        return errors.build();
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

    /** Why pods cannot be connected; empty if they can. Does not block. */
    ImmutableList<String> networkErrors() {
        RuntimeStatus known;
        synchronized (lock) {
            known = answer;
        }
        if (known == null) {
            return ImmutableList.of("network state unknown");
        }
        return known.networkProblem()
                .map(problem -> ImmutableList.of("container runtime network not ready: " + problem))
                .orElse(ImmutableList.of());
    }
}
