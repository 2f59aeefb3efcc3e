package dev.podcache.kubelet.podsync;

import dev.podcache.time.ApiTime;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateRunning;
import io.fabric8.kubernetes.api.model.ContainerStateTerminated;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Checks the times that the runtime reports for containers. The API server refuses the whole status if one of them is
 * not a time. Pure functions.
 */
final class ReportedTimes {

    private ReportedTimes() {}

    /** Returns copies of {@code reported} without texts that are not times. */
    static List<ContainerStatus> valid(List<ContainerStatus> reported) {
        return reported.stream().map(ReportedTimes::valid).toList();
    }

    private static ContainerStatus valid(ContainerStatus reported) {
        ContainerStatus copy = new ContainerStatusBuilder(reported).build();
        removeInvalid(copy.getState());
        removeInvalid(copy.getLastState());
        return copy;
    }

    private static void removeInvalid(@Nullable ContainerState state) {
        ContainerStateRunning running = state == null ? null : state.getRunning();
        if (running != null) {
            running.setStartedAt(valid(running.getStartedAt()));
        }
        ContainerStateTerminated end = state == null ? null : state.getTerminated();
        if (end != null) {
            end.setStartedAt(valid(end.getStartedAt()));
            end.setFinishedAt(valid(end.getFinishedAt()));
        }
    }

    private static @Nullable String valid(@Nullable String time) {
        return ApiTime.parse(time).isPresent() ? time : null;
    }
}
