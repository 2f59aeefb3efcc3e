package dev.podcache.kubelet.podsync;

import com.google.common.collect.Iterables;
import dev.podcache.kubelet.runtime.ContainerResize;
import dev.podcache.kubelet.runtime.PodState;
import dev.podcache.object.Amounts;
import dev.podcache.pod.PodResources;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodConditionBuilder;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The CPU and memory that the containers of one pod have, which differ from the pod's spec while a resize is pending. Carries
 * resizes out, or says why not. Not thread-safe.
 *
 * <p>Follows the kubelet's {@code pkg/kubelet/allocation}, with one difference: whether other pods leave enough of the node is
 * not looked at, so no resize is {@code Deferred}.
 */
final class PodResize {

    private static final List<String> RESIZABLE = List.of("cpu", "memory");
    private static final int MILLI = 3;
    private static final String PENDING = "PodResizePending";
    private static final String IN_PROGRESS = "PodResizeInProgress";

    private final WorkerParts parts;
    private final RuntimeCalls calls;
    private final ContainerMemory memory;
    private final Map<String, ResourceRequirements> allocated = new HashMap<>(2);
    private @Nullable PodCondition condition;

    PodResize(WorkerParts parts, RuntimeCalls calls, ContainerMemory memory) {
        this.parts = parts;
        this.calls = calls;
        this.memory = memory;
    }

    /** Takes over what the agent before this one reported. */
    void adopt(PodStatus reported) {
        boolean isPending = reported.getConditions().stream()
                .anyMatch(
                        each -> each.getType().equals(PENDING) || each.getType().equals(IN_PROGRESS));
        for (ContainerStatus status :
                Iterables.concat(reported.getInitContainerStatuses(), reported.getContainerStatuses())) {
            boolean wasStarted = !States.isWaiting(status) || States.lastTermination(status) != null;
            if (status.getResources() != null && wasStarted) {
                allocated.put(status.getName(), status.getResources());
            } else if (isPending && wasStarted) {
                // those of its spec may be what it waits for
                allocated.put(status.getName(), new ResourceRequirements());
            }
        }
    }

    /** Returns the condition of a resize that is not done; empty if there is none. */
    Optional<PodCondition> condition() {
        return Optional.ofNullable(condition);
    }

    /** Returns {@code state} with the resources of the containers that were started, where the runtime shows none. */
    PodState withResources(PodState state) {
        return new PodState(
                withResources(state.initContainers()),
                withResources(state.containers()),
                state.ephemeralContainers(),
                state.podIps(),
                state.containerHashes());
    }

    private List<ContainerStatus> withResources(List<ContainerStatus> statuses) {
        List<ContainerStatus> all = new ArrayList<>();
        for (ContainerStatus status : statuses) {
            ResourceRequirements has = allocated.get(status.getName());
            boolean isMissing = has != null && status.getResources() == null && !isEmpty(has);
            all.add(
                    isMissing
                            ? new ContainerStatusBuilder(status)
                                    .withResources(has)
                                    .build()
                            : status);
        }
        return all;
    }

    private static boolean isEmpty(ResourceRequirements resources) {
        return (resources.getRequests() == null || resources.getRequests().isEmpty())
                && (resources.getLimits() == null || resources.getLimits().isEmpty());
    }

    /**
     * Gives the containers the resources of the spec, if that is possible. Returns the pod with the resources that its
     * containers have.
     */
    Pod apply(Pod pod, PodState state, SyncResult sync) throws InterruptedException {
        List<Container> changed = changed(pod);
        condition = null;
        if (changed.isEmpty()) {
            return pod;
        }
        if (state.containers().isEmpty() && state.initContainers().isEmpty()) {
            changed.forEach(container -> allocated.put(container.getName(), container.getResources()));
            return pod;
        }
        String refusal = refusal(pod);
        if (refusal != null) {
            condition = condition(pod, PENDING, "Infeasible", refusal);
            sync.warn(PodEvent.resizeInfeasible(refusal));
            return withResources(pod, allocated);
        }
        for (Container container : changed) {
            resize(pod, container, state, sync);
        }
        return withResources(pod, allocated);
    }

    /** Returns the containers whose spec asks for other resources than they have. Those that are new have those of their spec. */
    private List<Container> changed(Pod pod) {
        List<Container> changed = new ArrayList<>();
        for (Container container : Iterables.concat(
                Iterables.filter(pod.getSpec().getInitContainers(), PodResources::isSidecar),
                pod.getSpec().getContainers())) {
            if (container.getResources() != null) {
                ResourceRequirements has = allocated.putIfAbsent(container.getName(), container.getResources());
                if (has != null && !isSame(has, container.getResources())) {
                    changed.add(container);
                }
            }
        }
        return changed;
    }

    private static boolean isSame(ResourceRequirements one, ResourceRequirements other) {
        return RESIZABLE.stream().noneMatch(resource -> differ(resource, one, other));
    }

    private static boolean differ(String resource, ResourceRequirements one, ResourceRequirements other) {
        return amount(one.getRequests(), resource).compareTo(amount(other.getRequests(), resource)) != 0
                || amount(one.getLimits(), resource).compareTo(amount(other.getLimits(), resource)) != 0;
    }

    /** A quantity that is missing or not valid counts as none. */
    private static BigDecimal amount(@Nullable Map<String, Quantity> quantities, String resource) {
        Quantity quantity = quantities == null ? null : quantities.get(resource);
        try {
            return quantity == null ? BigDecimal.ZERO : Amounts.of(quantity);
        } catch (IllegalArgumentException invalid) {
            return BigDecimal.ZERO;
        }
    }

    /** Returns why the node will never carry out the resize; null if it may. */
    private @Nullable String refusal(Pod pod) {
        if (!(parts.runtime() instanceof ContainerResize)) {
            return "In-place pod resize is not supported by runtime "
                    + parts.runtime().type() + " of this node";
        }
        Map<String, Quantity> allocatable = parts.node()
                .apply(pod)
                .map(Node::getStatus)
                .map(status -> status.getAllocatable())
                .orElse(Map.of());
        for (String resource : RESIZABLE) {
            BigDecimal request = PodResources.request(pod, resource);
            BigDecimal capacity = amount(allocatable, resource);
            if (allocatable.containsKey(resource) && request.compareTo(capacity) > 0) {
                int shift = resource.equals("cpu") ? MILLI : 0;
                return "Node didn't have enough capacity: " + resource + ", requested: " + whole(request, shift)
                        + ", capacity: " + whole(capacity, shift);
            }
        }
        return null;
    }

    private static String whole(BigDecimal amount, int shift) {
        return amount.movePointRight(shift).setScale(0, RoundingMode.CEILING).toPlainString();
    }

    private void resize(Pod pod, Container container, PodState state, SyncResult sync) throws InterruptedException {
        String name = container.getName();
        ContainerStatus status = States.named(state.containers(), name);
        if (status == null) {
            status = States.named(state.initContainers(), name);
        }
        ResourceRequirements has = Objects.requireNonNull(allocated.get(name));
        if (status != null && States.isRunning(status)) {
            boolean restarts = container.getResizePolicy().stream()
                    .filter(policy -> "RestartContainer".equals(policy.getRestartPolicy()))
                    .anyMatch(policy -> differ(policy.getResourceName(), has, container.getResources()));
            if (restarts) {
                memory.mustRestart(name);
            } else if (!resize(pod, container, sync)) {
                return;
            }
        }
        allocated.put(name, container.getResources());
    }

    private boolean resize(Pod pod, Container container, SyncResult sync) throws InterruptedException {
        ContainerResize runtime = (ContainerResize) parts.runtime();
        try {
            calls.run(pod, "resize of container " + container.getName(), () -> runtime.resize(pod, container));
            return true;
        } catch (IOException | RuntimeException | Error e) {
            String message = "container " + container.getName() + ": " + PodContainers.text(e);
            condition = condition(pod, IN_PROGRESS, "Error", message);
            sync.failed(PodEvent.resizeFailed(message));
            return false;
        }
    }

    private static PodCondition condition(Pod pod, String type, String reason, String message) {
        return new PodConditionBuilder()
                .withType(type)
                .withStatus("True")
                .withReason(reason)
                .withMessage(message)
                .withObservedGeneration(pod.getMetadata().getGeneration())
                .build();
    }

    /** Returns a pod with these resources of its containers, by name; one that is not named keeps those of its spec. */
    static Pod withResources(Pod pod, Map<String, ResourceRequirements> resources) {
        return new PodBuilder(pod)
                .editSpec()
                .withInitContainers(withResources(pod.getSpec().getInitContainers(), resources))
                .withContainers(withResources(pod.getSpec().getContainers(), resources))
                .endSpec()
                .build();
    }

    private static List<Container> withResources(
            List<Container> containers, Map<String, ResourceRequirements> resources) {
        return containers.stream()
                .map(container -> {
                    ResourceRequirements has = resources.get(container.getName());
                    return has == null || has.equals(container.getResources())
                            ? container
                            : new ContainerBuilder(container).withResources(has).build();
                })
                .toList();
    }
}
