package dev.podcache.kubelet.podstatus;

import static dev.podcache.kubelet.podstatus.PodParts.present;

import com.google.common.collect.ImmutableSet;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodReadinessGate;
import io.fabric8.kubernetes.api.model.PodSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The conditions that a node writes: which they are, and what they say. Pure. */
final class PodConditions {

    // After pkg/kubelet/status/generate.go and pkg/kubelet/types/pod_status.go of Kubernetes.

    static final String POD_SCHEDULED = "PodScheduled";
    static final String INITIALIZED = "Initialized";
    static final String CONTAINERS_READY = "ContainersReady";
    static final String READY = "Ready";

    /** Written by the node only. */
    static final ImmutableSet<String> OWNED = ImmutableSet.of(
            POD_SCHEDULED, READY, INITIALIZED, CONTAINERS_READY, "PodResizePending", "PodResizeInProgress");

    /** Written by the node too, and only when it ends a pod. */
    static final String DISRUPTION_TARGET = "DisruptionTarget";

    /** Those that change their transition time with their status. */
    static final ImmutableSet<String> TIMED =
            ImmutableSet.of(CONTAINERS_READY, READY, INITIALIZED, POD_SCHEDULED, DISRUPTION_TARGET);

    static final String TRUE = "True";
    static final String FALSE = "False";

    private static final String UNKNOWN_STATUSES = "UnknownContainerStatuses";
    private static final String POD_COMPLETED = "PodCompleted";
    private static final String POD_FAILED = "PodFailed";

    private PodConditions() {}

    /** A condition without any time. */
    static PodCondition condition(String type, String status, @Nullable String reason, @Nullable String message) {
        PodCondition condition = new PodCondition();
        condition.setType(type);
        condition.setStatus(status);
        condition.setReason(reason);
        condition.setMessage(message);
        return condition;
    }

    static PodCondition scheduled() {
        return condition(POD_SCHEDULED, TRUE, null, null);
    }

    /**
     * Whether all init containers are through.
     *
     * @param statuses of init and regular containers alike; null if nothing is known of any
     */
    static PodCondition initialized(PodSpec spec, @Nullable List<ContainerStatus> statuses, @Nullable String phase) {
        List<Container> init = present(spec.getInitContainers());
        if (statuses == null && !init.isEmpty()) {
            return condition(INITIALIZED, FALSE, UNKNOWN_STATUSES, null);
        }
        List<ContainerStatus> known = present(statuses);
        Sorted sorted = new Sorted();
        for (Container container : init) {
            sorted.add(container, known, status -> isThrough(container, status));
        }
        if (PodPhase.SUCCEEDED.equals(phase) && sorted.unknown.isEmpty()) {
            return condition(INITIALIZED, TRUE, POD_COMPLETED, null);
        }
        if (PodPhase.hasStarted(spec, known) || sorted.isClean()) {
            return condition(INITIALIZED, TRUE, null, null);
        }
        return condition(INITIALIZED, FALSE, "ContainersNotInitialized", sorted.message("incomplete"));
    }

    /**
     * Whether all containers that serve are ready: the regular ones and the sidecars.
     *
     * @param statuses of init and regular containers alike; null if nothing is known of any
     */
    static PodCondition containersReady(
            PodSpec spec, @Nullable List<ContainerStatus> statuses, @Nullable String phase) {
        if (statuses == null) {
            return condition(CONTAINERS_READY, FALSE, UNKNOWN_STATUSES, null);
        }
        Sorted sorted = new Sorted();
        for (Container container : present(spec.getInitContainers())) {
            if (PodParts.isSidecar(container)) {
                sorted.add(container, statuses, PodConditions::isReady);
            }
        }
        for (Container container : present(spec.getContainers())) {
            sorted.add(container, statuses, PodConditions::isReady);
        }
        if (PodPhase.SUCCEEDED.equals(phase) && sorted.unknown.isEmpty()) {
            return over(CONTAINERS_READY, PodPhase.SUCCEEDED);
        }
        if (PodPhase.FAILED.equals(phase)) {
            return over(CONTAINERS_READY, PodPhase.FAILED);
        }
        return sorted.isClean()
                ? condition(CONTAINERS_READY, TRUE, null, null)
                : condition(CONTAINERS_READY, FALSE, "ContainersNotReady", sorted.message("unready"));
    }

    /**
     * Whether the pod may serve: its containers are ready, and so says everybody who holds one of its readiness gates.
     *
     * @param containersReady as {@link #containersReady} has it
     * @param conditions among which those of the gates are
     */
    static PodCondition ready(PodSpec spec, PodCondition containersReady, List<PodCondition> conditions) {
        if (!TRUE.equals(containersReady.getStatus())) {
            return condition(READY, FALSE, containersReady.getReason(), containersReady.getMessage());
        }
        List<String> messages = new ArrayList<>();
        for (PodReadinessGate gate : present(spec.getReadinessGates())) {
            String type = gate.getConditionType();
            @Nullable
            String status = conditions.stream()
                    .filter(condition -> type.equals(condition.getType()))
                    .map(condition -> String.valueOf(condition.getStatus()))
                    .findFirst()
                    .orElse(null);
            if (status == null) {
                messages.add("corresponding condition of pod readiness gate \"" + type + "\" does not exist.");
            } else if (!status.equals(TRUE)) {
                messages.add("the status of pod readiness gate \"" + type + "\" is not \"True\", but " + status);
            }
        }
        return messages.isEmpty()
                ? condition(READY, TRUE, null, null)
                : condition(READY, FALSE, "ReadinessGatesNotReady", String.join(", ", messages));
    }

    /** What Ready or ContainersReady is of a pod in a terminal phase. */
    static PodCondition over(String type, String phase) {
        return condition(type, FALSE, phase.equals(PodPhase.SUCCEEDED) ? POD_COMPLETED : POD_FAILED, null);
    }

    /** Puts {@code condition} in the place of the one of its type, or at the end. */
    static void put(List<PodCondition> conditions, PodCondition condition) {
        for (int i = 0; i < conditions.size(); i++) {
            if (condition.getType().equals(conditions.get(i).getType())) {
                conditions.set(i, condition);
                return;
            }
        }
        conditions.add(condition);
    }

    private static boolean isThrough(Container container, ContainerStatus status) {
        return PodParts.isSidecar(container) ? Boolean.TRUE.equals(status.getStarted()) : isReady(status);
    }

    private static boolean isReady(ContainerStatus status) {
        return Boolean.TRUE.equals(status.getReady());
    }

    /** Containers that are not as they should be, in spec order. */
    private static final class Sorted {

        final List<String> unknown = new ArrayList<>();
        final List<String> wrong = new ArrayList<>();

        void add(Container container, List<ContainerStatus> statuses, Predicate<ContainerStatus> right) {
            @Nullable ContainerStatus status = PodParts.named(statuses, container.getName());
            if (status == null) {
                unknown.add(container.getName());
            } else if (!right.test(status)) {
                wrong.add(container.getName());
            }
        }

        boolean isClean() {
            return unknown.isEmpty() && wrong.isEmpty();
        }

        String message(String how) {
            List<String> messages = new ArrayList<>();
            if (!unknown.isEmpty()) {
                messages.add("containers with unknown status: [" + String.join(" ", unknown) + "]");
            }
            if (!wrong.isEmpty()) {
                messages.add("containers with " + how + " status: [" + String.join(" ", wrong) + "]");
            }
            return String.join(", ", messages);
        }
    }
}
