package dev.podcache.kubelet.runtime;

import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * How the containers of some pods behave in a {@link HollowRuntime}. Immutable.
 *
 * @param labels the labels that a pod must have for this stage; empty for every pod; copied
 * @param startAfter how long a container takes to start; zero to start at once
 * @param endAfter how long a regular container runs; zero to run until it is stopped
 * @param exitCode the exit code of a container that ended by itself
 */
public record HollowStage(Map<String, String> labels, Duration startAfter, Duration endAfter, int exitCode) {

    private static final Duration JOB_DURATION = Duration.ofSeconds(10);
    private static final int LARGEST_EXIT_CODE = 255;

    /** A container starts at once and runs until it is stopped. */
    public static final HollowStage RUNNING = new HollowStage(Map.of(), Duration.ZERO, Duration.ZERO, 0);

    /** A container starts at once and succeeds after 10 s. */
    public static final HollowStage JOB = new HollowStage(Map.of(), Duration.ZERO, JOB_DURATION, 0);

    public HollowStage {
        labels = Map.copyOf(labels);
        Objects.requireNonNull(startAfter, "startAfter");
        Objects.requireNonNull(endAfter, "endAfter");
        if (startAfter.isNegative() || endAfter.isNegative()) {
            throw new IllegalArgumentException(
                    "startAfter and endAfter must not be negative, but are " + startAfter + " and " + endAfter);
        }
        if (exitCode < 0 || exitCode > LARGEST_EXIT_CODE) {
            throw new IllegalArgumentException(
                    "exitCode must be from 0 to " + LARGEST_EXIT_CODE + ", but is " + exitCode);
        }
    }

    /**
     * Returns the stage of a pod: the first of {@code stages} whose labels the pod has. Otherwise it is {@link #JOB} for
     * a pod of a Job, and {@link #RUNNING} for any other pod.
     */
    static HollowStage of(Pod pod, List<HollowStage> stages) {
        Map<String, String> labels = pod.getMetadata().getLabels() == null
                ? Map.of()
                : pod.getMetadata().getLabels();
        for (HollowStage stage : stages) {
            if (labels.entrySet().containsAll(stage.labels.entrySet())) {
                return stage;
            }
        }
        boolean ofJob = pod.getMetadata().getOwnerReferences().stream()
                .anyMatch(owner -> owner.getKind().equals("Job"));
        return ofJob ? JOB : RUNNING;
    }
}
