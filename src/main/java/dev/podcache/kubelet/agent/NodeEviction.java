package dev.podcache.kubelet.agent;

import dev.podcache.kubelet.eviction.EvictablePods;
import dev.podcache.kubelet.eviction.EvictionManager;
import dev.podcache.kubelet.eviction.EvictionThresholds;
import dev.podcache.kubelet.host.HostFacts.Supply;
import dev.podcache.kubelet.host.Quantities;
import dev.podcache.kubelet.nodestatus.NodeReservations;
import dev.podcache.kubelet.runtime.ContainerStatistics;
import dev.podcache.kubelet.runtime.DiskReclaim;
import io.fabric8.kubernetes.api.model.Quantity;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.BooleanSupplier;

/** Creates the eviction manager of an agent from the agent's options and parts. */
final class NodeEviction {

    private final NodeAgentOptions options;
    private final AgentPods.AgentParts parts;
    private final BooleanSupplier started;

    private NodeEviction(NodeAgentOptions options, AgentPods.AgentParts parts, BooleanSupplier started) {
        this.options = options;
        this.parts = parts;
        this.started = started;
    }

    /** Returns a manager that is not started. */
    static EvictionManager manager(
            NodeAgentOptions options, AgentPods.AgentParts parts, AgentPods.AgentHooks hooks, EvictablePods pods) {
        NodeEviction eviction = new NodeEviction(options, parts, hooks.runtimeStarted());
        Optional<DiskReclaim> reclaim =
                parts.runtime() instanceof DiskReclaim disk ? Optional.of(disk) : Optional.empty();
        return EvictionManager.of(
                options.configuration().eviction(),
                parts.facts(),
                eviction::statistics,
                eviction::podMemory,
                new EvictionManager.ManagerParts(
                        parts.node(),
                        reclaim,
                        pods,
                        parts.events(),
                        hooks.pressureChanged(),
                        parts.threads(),
                        parts.ports().timekeeper()));
    }

    private Optional<ContainerStatistics> statistics() {
        if (parts.runtime() instanceof ContainerStatistics statistics) {
            return Optional.of(started.getAsBoolean() ? parts.calls().noticed(statistics) : NodeEviction::notStarted);
        }
        return Optional.empty();
    }

    private static List<ContainerStatistics.PodUsage> notStarted() throws IOException {
        throw new IOException("the runtime has not started");
    }

    /** Returns the memory of the machine without what is reserved for others than pods. */
    private OptionalLong podMemory() {
        Quantity offered = options.capacity().get("memory");
        if (offered != null) {
            return OptionalLong.of(Quantities.whole(offered));
        }
        Optional<Supply> memory = parts.facts().memory();
        return memory.isPresent()
                ? OptionalLong.of(
                        memory.get().capacity() - reserved(memory.get().capacity()))
                : OptionalLong.empty();
    }

    private long reserved(long capacity) {
        NodeReservations withoutThresholds =
                options.configuration().reservations().reserved().withHardEviction(EvictionThresholds.parse(Map.of()));
        Quantity reserved = withoutThresholds
                .of(Map.of("memory", Quantities.of("memory", capacity)))
                .get("memory");
        return reserved == null ? 0 : Quantities.whole(reserved);
    }
}
