package dev.podcache.kubelet.probe;

import dev.podcache.object.PodKey;
import dev.podcache.time.Durations;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStateRunning;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Probe;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * One probe of one container: when it is due, and what it has found out. Has at most one timer, and none while the
 * probe has to wait for the container. All methods are called under the lock of the pod's {@link PodProbes}.
 */
final class ProbeWorker {

    private static final int DEFAULT_PERIOD_SECONDS = 10;
    private static final int DEFAULT_FAILURE_THRESHOLD = 3;

    private final ProbeKind kind;
    private final Container container;
    private final String fieldPath;
    private final Probe spec;
    private final Duration period;
    private final Duration initialDelay;
    private final ProbeSchedule schedule;
    private final ProbeState state;

    private boolean running;
    private boolean stopped;
    private @Nullable String startedAt; // as in the status
    private long notBefore; // in nanoseconds
    private boolean checking;
    private long checkBegan; // in nanoseconds
    private final ProbeHistory history = new ProbeHistory();

    /** Set while a check is due. */
    private Timekeeper.@Nullable Scheduled timer;

    private long due; // of the timer, in nanoseconds
    private long turn; // counts the timers, so that a cancelled one that has begun does nothing

    /**
     * Makes a worker without a container.
     *
     * @param fieldPath the field path of the container, for events
     */
    ProbeWorker(ProbeKind kind, Probe spec, Container container, String fieldPath, ProbeSchedule schedule) {
        this.kind = kind;
        this.spec = spec;
        this.container = container;
        this.fieldPath = fieldPath;
        this.schedule = schedule;
        this.period = Duration.ofSeconds(atLeastOne(spec.getPeriodSeconds(), DEFAULT_PERIOD_SECONDS));
        this.initialDelay = Duration.ofSeconds(orElse(spec.getInitialDelaySeconds(), 0));
        this.state = new ProbeState(
                kind,
                atLeastOne(spec.getSuccessThreshold(), 1),
                atLeastOne(spec.getFailureThreshold(), DEFAULT_FAILURE_THRESHOLD));
    }

    ProbeKind kind() {
        return kind;
    }

    Probe spec() {
        return spec;
    }

    Container container() {
        return container;
    }

    String fieldPath() {
        return fieldPath;
    }

    boolean isOf(ProbeKind otherKind, String containerName) {
        return kind == otherKind && container.getName().equals(containerName);
    }

    /** Returns whether the latest result is about this container. */
    boolean knows(String containerId) {
        return state.containerId().equals(containerId);
    }

    boolean succeeds() {
        return state.result() == ProbeResult.SUCCESS;
    }

    /**
     * Takes over the state of the container.
     *
     * @param reported the container statuses that the API server has
     */
    void observe(ContainerStatus status, List<ContainerStatus> reported) {
        ContainerStateRunning now =
                status.getState() == null ? null : status.getState().getRunning();
        running = now != null;
        String newStartedAt = now == null ? null : now.getStartedAt();
        Optional<Instant> start = parsed(newStartedAt);
        boolean first = state.containerId().isEmpty();
        // a container that ran before the agent keeps its readiness, as since Kubernetes 1.35
        boolean adopted = first && schedule.isBeforeAgent(start);
        boolean replaced = state.container(
                status.getContainerID(),
                adopted && wasSuccessful(status.getContainerID(), reported) ? ProbeResult.SUCCESS : null);
        if (replaced || !Objects.equals(startedAt, newStartedAt)) {
            startedAt = newStartedAt;
            Duration delay = schedule.remaining(initialDelay, start);
            notBefore = schedule.in(adopted ? longer(delay, schedule.jitter(period)) : delay);
        }
        if (!running) {
            state.notRunning();
        }
    }

    private boolean wasSuccessful(String containerId, List<ContainerStatus> reported) {
        return reported.stream()
                .filter(status -> containerId.equals(status.getContainerID()))
                .anyMatch(status -> switch (kind) {
                    case STARTUP -> Boolean.TRUE.equals(status.getStarted());
                    case READINESS -> Boolean.TRUE.equals(status.getReady());
                    case LIVENESS -> true;
                });
    }

    /** Ends the probe because the pod is about to be stopped. Readiness is still checked then. */
    void podEnds() {
        if (kind != ProbeKind.READINESS && !stopped) {
            stopped = true;
            state.deleted();
        }
    }

    /** Ends the probe. The result stays. */
    void stop() {
        stopped = true;
        cancel();
    }

    /**
     * Sets the timer to the next check, or cancels it if no check is due.
     *
     * @param started whether the container is started
     * @param check is called on the timer thread with the argument for {@link #begin}
     */
    void reschedule(boolean started, LongConsumer check) {
        if (checking) {
            return;
        }
        if (!isDue(started)) {
            cancel();
        } else if (timer == null || due != notBefore) {
            cancel();
            due = notBefore;
            long ours = turn;
            timer = schedule.at(due, () -> check.accept(ours));
        }
    }

    private boolean isDue(boolean started) {
        boolean waits = kind == ProbeKind.STARTUP ? succeeds() : !started;
        return running && !stopped && !waits && !state.onHold();
    }

    private void cancel() {
        turn++;
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
    }

    /** Begins the check of a timer. Returns false if the timer was cancelled meanwhile. */
    boolean begin(long timerTurn) {
        if (timerTurn != turn || timer == null) {
            return false;
        }
        timer = null;
        checking = true;
        checkBegan = schedule.in(Duration.ZERO);
        notBefore = schedule.in(period);
        return true;
    }

    /** Counts the check that is ending. */
    void count(ProbeOutcome.Verdict verdict) {
        history.add(verdict, Duration.ofNanos(schedule.in(Duration.ZERO) - checkBegan));
    }

    Probes.ProbeCounted counted(PodKey pod) {
        return history.snapshot(pod, container.getName(), kind);
    }

    /** Ends the check, so that the next one may be scheduled. */
    void end() {
        checking = false;
    }

    /** Returns whether a check that began for {@code containerId} still counts. */
    boolean isCurrent(String containerId) {
        return !stopped && running && knows(containerId);
    }

    /** Counts a check. Returns whether it changed the result. */
    boolean checked(boolean success) {
        return state.checked(success);
    }

    ProbeState state() {
        return state;
    }

    /** Returns why the container must be restarted; empty if the probe did not fail. */
    Optional<FailedProbe> failed() {
        if (!state.onHold()) {
            return Optional.empty();
        }
        return Optional.of(new FailedProbe(
                kind,
                "Container " + container.getName() + " failed " + (kind == ProbeKind.LIVENESS ? "liveness" : "startup")
                        + " probe",
                Optional.ofNullable(spec.getTerminationGracePeriodSeconds()).map(Durations::ofSeconds)));
    }

    /** Returns a name for log lines, such as {@code Liveness probe of container web}. */
    @Override
    public String toString() {
        return kind + " probe of container " + container.getName();
    }

    private static Optional<Instant> parsed(@Nullable String time) {
        try {
            return time == null || time.isEmpty() ? Optional.empty() : Optional.of(Instant.parse(time));
        } catch (DateTimeParseException invalid) {
            return Optional.empty();
        }
    }

    private static Duration longer(Duration one, Duration other) {
        return one.compareTo(other) > 0 ? one : other;
    }

    private static int atLeastOne(@Nullable Integer value, int otherwise) {
        return Math.max(1, orElse(value, otherwise));
    }

    private static int orElse(@Nullable Integer value, int otherwise) {
        return value == null || value == 0 ? otherwise : value;
    }
}
