package dev.podcache.kubelet.podsync;

import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.PodStatusBuilder;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/** The warnings and failures of one sync of a pod, and when the next sync is due. Not thread-safe. */
final class SyncResult {

    static final String DEADLINE_MESSAGE = "Pod was active on the node longer than the specified deadline";

    /** The phase, reason and message of a pod that has exceeded its deadline. */
    static final PodStatus DEADLINE = new PodStatusBuilder()
            .withPhase("Failed")
            .withReason("DeadlineExceeded")
            .withMessage(DEADLINE_MESSAGE)
            .build();

    private final SyncPeriods periods;
    private final Set<PodEvent> warnings = new LinkedHashSet<>();
    private final Set<String> failedContainers = new HashSet<>();
    private boolean incomplete;
    private @Nullable Duration again;

    SyncResult(SyncPeriods periods) {
        this.periods = periods;
    }

    /** Adds a warning, unless it was added before. */
    void warn(PodEvent warning) {
        warnings.add(warning);
    }

    /** Adds the warning about something that failed or is missing, so that the sync must be repeated. */
    void failed(PodEvent warning) {
        warn(warning);
        incomplete = true;
    }

    /** Adds the warning about a container that could not be started or stopped, which this sync does not try again. */
    void failed(String container, PodEvent warning) {
        failed(warning);
        failedContainers.add(container);
    }

    /** Returns whether a container could not be started or stopped in this sync. */
    boolean hasFailed(String container) {
        return failedContainers.contains(container);
    }

    /** Asks for another sync after {@code delay}, if none comes before. */
    void again(Duration delay) {
        if (again == null || delay.compareTo(again) < 0) {
            again = delay;
        }
    }

    List<PodEvent> warnings() {
        return List.copyOf(warnings);
    }

    /**
     * Returns the delay until the next sync if nothing changes.
     *
     * @param random uniform in [0, 1), extends the period
     */
    Duration next(DoubleSupplier random) {
        Duration period = SyncPeriods.jittered(incomplete ? periods.failed() : periods.settled(), random);
        return again == null || period.compareTo(again) < 0 ? period : again;
    }
}
