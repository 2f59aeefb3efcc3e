package dev.podcache.kubelet.podstatus;

import static dev.podcache.kubelet.podstatus.PodParts.present;

import com.google.common.collect.ImmutableSet;
import dev.podcache.pod.PodResources;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodConditionBuilder;
import io.fabric8.kubernetes.api.model.PodReadinessGate;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Computes the pod conditions that a node writes. Pure functions. */
final class PodConditions {

    // Follows pkg/kubelet/status/generate.go and pkg/kubelet/types/pod_status.go of Kubernetes.

    static final String POD_SCHEDULED = "PodScheduled";
    static final String READY_TO_START_CONTAINERS = "PodReadyToStartContainers";
    static final String INITIALIZED = "Initialized";
    static final String CONTAINERS_READY = "ContainersReady";
    static final String READY = "Ready";

    private static final String RESIZE_PENDING = "PodResizePending";
    private static final String RESIZE_IN_PROGRESS = "PodResizeInProgress";

    /** The types of conditions that only the node writes. */
    static final ImmutableSet<String> OWNED = ImmutableSet.of(
            POD_SCHEDULED,
            READY,
            INITIALIZED,
            CONTAINERS_READY,
            READY_TO_START_CONTAINERS,
            RESIZE_PENDING,
            RESIZE_IN_PROGRESS,
            RuntimeResponding.TYPE);

    /** A condition that others write too; the node writes it only when it ends a pod. */
    static final String DISRUPTION_TARGET = "DisruptionTarget";

    /** The types of conditions whose transition time changes with their status. */
    static final ImmutableSet<String> TIMED = ImmutableSet.of(
            CONTAINERS_READY,
            READY,
            INITIALIZED,
            READY_TO_START_CONTAINERS,
            POD_SCHEDULED,
            DISRUPTION_TARGET,
            RESIZE_PENDING,
            RESIZE_IN_PROGRESS,
            RuntimeResponding.TYPE);

    static final String TRUE = "True";
    static final String FALSE = "False";

    private static final String UNKNOWN_STATUSES = "UnknownContainerStatuses";
    private static final String POD_COMPLETED = "PodCompleted";
    private static final String POD_FAILED = "PodFailed";

    private PodConditions() {}

    /** Returns a condition without timestamps. */
    static PodCondition condition(String type, String status, @Nullable String reason, @Nullable String message) {
        PodCondition condition = new PodCondition();
        condition.setType(type);
        condition.setStatus(status);
        condition.setReason(reason);
        condition.setMessage(message);
        return condition;
    }

    /** Returns copies of the conditions that others write. */
    static List<PodCondition> copiesOfOthers(PodStatus status) {
        List<PodCondition> copies = new ArrayList<>();
        for (PodCondition condition : present(status.getConditions())) {
            if (!OWNED.contains(condition.getType())) {
                copies.add(new PodConditionBuilder(condition).build());
            }
        }
        return copies;
    }

    static PodCondition scheduled() {
        return condition(POD_SCHEDULED, TRUE, null, null);
    }

    /**
     * Returns the condition PodReadyToStartContainers. A kubelet derives it from the pod's sandbox, which exists from the mount of
     * the volumes on until the pod ends, and which has an address unless the pod uses the network of its node. An observation
     * has these facts instead of a sandbox.
     */
    static PodCondition readyToStartContainers(PodSpec spec, PodObservation observed) {
        boolean hasNetwork =
                Boolean.TRUE.equals(spec.getHostNetwork()) || !observed.podIps().isEmpty();
        boolean ready = observed.mounted() && hasNetwork && !observed.over();
        return condition(READY_TO_START_CONTAINERS, ready ? TRUE : FALSE, null, null);
    }

    /**
     * Returns the condition Initialized: whether all init containers have completed and all sidecars have started.
     *
     * @param statuses the statuses of init and regular containers; null if none is known
     */
    static PodCondition initialized(PodSpec spec, @Nullable List<ContainerStatus> statuses, @Nullable String phase) {
        List<Container> initContainers = present(spec.getInitContainers());
        if (statuses == null && !initContainers.isEmpty()) {
            return condition(INITIALIZED, FALSE, UNKNOWN_STATUSES, null);
        }
        List<ContainerStatus> known = present(statuses);
        UnmetContainers unmet = new UnmetContainers();
        for (Container container : initContainers) {
            unmet.add(container, known, status -> isInitialized(container, status));
        }
        if (PodPhase.SUCCEEDED.equals(phase) && unmet.unknown.isEmpty()) {
            return condition(INITIALIZED, TRUE, POD_COMPLETED, null);
        }
        if (PodPhase.hasStarted(spec, known) || unmet.isEmpty()) {
            return condition(INITIALIZED, TRUE, null, null);
        }
        return condition(INITIALIZED, FALSE, "ContainersNotInitialized", unmet.message("incomplete"));
    }

    /**
     * Returns the condition ContainersReady: whether all regular containers and sidecars are ready.
     *
     * @param statuses the statuses of init and regular containers; null if none is known
     */
    static PodCondition containersReady(
            PodSpec spec, @Nullable List<ContainerStatus> statuses, @Nullable String phase) {
        if (statuses == null) {
            return condition(CONTAINERS_READY, FALSE, UNKNOWN_STATUSES, null);
        }
        UnmetContainers unmet = new UnmetContainers();
        for (Container container : present(spec.getInitContainers())) {
            if (PodResources.isSidecar(container)) {
                unmet.add(container, statuses, PodConditions::isReady);
            }
        }
        for (Container container : present(spec.getContainers())) {
            unmet.add(container, statuses, PodConditions::isReady);
        }
        if (PodPhase.SUCCEEDED.equals(phase) && unmet.unknown.isEmpty()) {
            return ofTerminalPod(CONTAINERS_READY, PodPhase.SUCCEEDED);
        }
        if (PodPhase.FAILED.equals(phase)) {
            return ofTerminalPod(CONTAINERS_READY, PodPhase.FAILED);
        }
        return unmet.isEmpty()
                ? condition(CONTAINERS_READY, TRUE, null, null)
                : condition(CONTAINERS_READY, FALSE, "ContainersNotReady", unmet.message("unready"));
    }

    /**
     * Returns the condition Ready: whether the containers are ready and all readiness gates are True.
     *
     * @param containersReady the result of {@link #containersReady}
     * @param conditions the pod's conditions, including the ones of its readiness gates
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

    /** Returns the condition Ready or ContainersReady of a pod in a terminal phase. */
    static PodCondition ofTerminalPod(String type, String phase) {
        return condition(type, FALSE, phase.equals(PodPhase.SUCCEEDED) ? POD_COMPLETED : POD_FAILED, null);
    }

    /** Replaces the condition of the same type in {@code conditions}, or appends {@code condition}. */
    static void put(List<PodCondition> conditions, PodCondition condition) {
        for (int i = 0; i < conditions.size(); i++) {
            if (condition.getType().equals(conditions.get(i).getType())) {
                conditions.set(i, condition);
                return;
            }
        }
        conditions.add(condition);
    }

    private static boolean isInitialized(Container container, ContainerStatus status) {
        return PodResources.isSidecar(container) ? Boolean.TRUE.equals(status.getStarted()) : isReady(status);
    }

    private static boolean isReady(ContainerStatus status) {
        return Boolean.TRUE.equals(status.getReady());
    }

    /** The containers that do not meet a requirement, in the order of the spec. */
    private static final class UnmetContainers {

        final List<String> unknown = new ArrayList<>();
        final List<String> unmet = new ArrayList<>();

        void add(Container container, List<ContainerStatus> statuses, Predicate<ContainerStatus> requirement) {
            @Nullable ContainerStatus status = PodParts.named(statuses, container.getName());
            if (status == null) {
                unknown.add(container.getName());
            } else if (!requirement.test(status)) {
                unmet.add(container.getName());
            }
        }

        boolean isEmpty() {
            return unknown.isEmpty() && unmet.isEmpty();
        }

        String message(String statusWord) {
            List<String> messages = new ArrayList<>();
            if (!unknown.isEmpty()) {
                messages.add("containers with unknown status: [" + String.join(" ", unknown) + "]");
            }
            if (!unmet.isEmpty()) {
                messages.add("containers with " + statusWord + " status: [" + String.join(" ", unmet) + "]");
            }
            return String.join(", ", messages);
        }
    }
}
