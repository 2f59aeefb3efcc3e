package dev.podcache.kubelet.nodestatus;

import com.google.common.collect.ImmutableSet;
import dev.podcache.time.ApiTime;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeCondition;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Sets the condition Ready, and records an event when it changes. Runs after the setters of other conditions, so that
 * Ready is the last condition of a new Node, where old clients expect it.
 */
final class ReadySetter implements NodeStatusSetter {

    private static final String TYPE = "Ready";

    private static final ImmutableSet<String> REQUIRED = ImmutableSet.of("cpu", "memory", "pods");
    private static final ImmutableSet<String> REQUIRED_WITH_STORAGE =
            ImmutableSet.of("cpu", "memory", "pods", "ephemeral-storage");

    private final List<Supplier<List<String>>> errors;
    private final ImmutableSet<String> requiredCapacity;
    private final NodeEvents events;

    /**
     * Creates a setter.
     *
     * @param localStorage whether the node offers its ephemeral storage, which it then has to know
     */
    ReadySetter(List<Supplier<List<String>>> errors, boolean localStorage, NodeEvents events) {
        this.errors = errors;
        this.requiredCapacity = localStorage ? REQUIRED_WITH_STORAGE : REQUIRED;
        this.events = events;
    }

    @Override
    public void set(Node node, Instant now) {
        ImmutableSet<String> found = errors(node);
        boolean ready = found.isEmpty();
        String message = ready ? "kubelet is posting ready status" : aggregated(found);
        String status = ready ? NodeConditions.TRUE : NodeConditions.FALSE;
        NodeCondition condition = NodeConditions.find(node, TYPE);
        if (condition == null) {
            condition = NodeConditions.append(node, TYPE);
            condition.setLastTransitionTime(ApiTime.of(now));
        } else if (!status.equals(condition.getStatus())) {
            condition.setLastTransitionTime(ApiTime.of(now));
            events.statusChanged(ready ? "NodeReady" : "NodeNotReady");
        }
        condition.setStatus(status);
        condition.setReason(ready ? "KubeletReady" : "KubeletNotReady");
        condition.setMessage(message);
        condition.setLastHeartbeatTime(ApiTime.of(now));
    }

    private ImmutableSet<String> errors(Node node) {
        ImmutableSet.Builder<String> found = ImmutableSet.builder();
        errors.forEach(supplier -> found.addAll(supplier.get()));
        missingCapacity(node).ifPresent(found::add);
        return found.build();
    }

    private Optional<String> missingCapacity(Node node) {
        String missing = requiredCapacity.stream()
                .filter(resource -> !node.getStatus().getCapacity().containsKey(resource))
                .collect(Collectors.joining(", "));
        return Stream.of(missing)
                .filter(names -> !names.isEmpty())
                .map(names -> "missing node capacity for resources: " + names)
                .findFirst();
    }

    /** Returns a single error as it is, and several errors in brackets. */
    private static String aggregated(ImmutableSet<String> errors) {
        return errors.size() == 1 ? errors.iterator().next() : "[" + String.join(", ", errors) + "]";
    }
}
