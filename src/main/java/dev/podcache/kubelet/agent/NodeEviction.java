package dev.podcache.kubelet.agent;

import dev.podcache.kubelet.events.EventRecorder;
import dev.podcache.kubelet.eviction.EvictablePods;
import dev.podcache.kubelet.eviction.Eviction;
import dev.podcache.kubelet.eviction.EvictionManager;
import dev.podcache.kubelet.eviction.EvictionThresholds;
import dev.podcache.kubelet.host.HostFacts;
import dev.podcache.kubelet.host.HostFacts.Supply;
import dev.podcache.kubelet.host.Quantities;
import dev.podcache.kubelet.nodestatus.NodeReservations;
import dev.podcache.kubelet.podstatus.PodStatusManager;
import dev.podcache.kubelet.podsync.KnownPods;
import dev.podcache.kubelet.podsync.PodWorkers;
import dev.podcache.kubelet.runtime.ContainerStatistics;
import dev.podcache.kubelet.runtime.DiskReclaim;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.pod.PodEnd;
import dev.podcache.time.TaskThreads;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

/** Creates the eviction manager of an agent from the agent's options and parts. */
final class NodeEviction {

    private final HostFacts facts;
    private final NodeAgentBuilder options;
    private final EvictionParts parts;

    /**
     * The parts of the agent that evictions need.
     *
     * @param started whether the runtime has started
     * @param changed called when the pressure of the node has changed
     */
    record EvictionParts(
            PodRuntime runtime,
            BooleanSupplier started,
            AgentPods pods,
            EventRecorder events,
            Runnable changed,
            TaskThreads threads,
            Timekeeper timekeeper) {}

    /** The pods of an agent. */
    record AgentPods(PodWorkers workers, KnownPods known, PodStatusManager statuses) implements EvictablePods {

        @Override
        public List<Pod> active() {
            return known.all().stream().filter(this::isActive).toList();
        }

        private boolean isActive(Pod pod) {
            return !PodEnd.isTerminal(pod)
                    && statuses.getPodStatus(pod.getMetadata().getUid())
                            .map(status -> !PodEnd.isTerminal(status.getPhase()))
                            .orElse(true);
        }

        @Override
        public CompletableFuture<Void> evict(Eviction eviction) {
            return workers.evict(eviction);
        }
    }

    private NodeEviction(HostFacts facts, NodeAgentBuilder options, EvictionParts parts) {
        this.facts = facts;
        this.options = options;
        this.parts = parts;
    }

    /** Returns a manager that is not started. */
    static EvictionManager manager(String node, HostFacts facts, NodeAgentBuilder options, EvictionParts parts) {
        NodeEviction eviction = new NodeEviction(facts, options, parts);
        Optional<DiskReclaim> reclaim =
                parts.runtime instanceof DiskReclaim disk ? Optional.of(disk) : Optional.empty();
        return EvictionManager.of(
                options.eviction,
                facts,
                eviction::statistics,
                eviction::podMemory,
                new EvictionManager.ManagerParts(
                        node, reclaim, parts.pods, parts.events, parts.changed, parts.threads, parts.timekeeper));
    }

    private Optional<ContainerStatistics> statistics() {
        if (parts.runtime instanceof ContainerStatistics statistics) {
            return Optional.of(parts.started.getAsBoolean() ? statistics : NodeEviction::notStarted);
        }
        return Optional.empty();
    }

    private static List<ContainerStatistics.PodUsage> notStarted() throws IOException {
        throw new IOException("the runtime has not started");
    }

    /** Returns the memory of the machine without what is reserved for others than pods. */
    private OptionalLong podMemory() {
        Quantity offered = options.capacity.get("memory");
        if (offered != null) {
            return OptionalLong.of(Quantities.whole(offered));
        }
        Optional<Supply> memory = facts.memory();
        return memory.isPresent()
                ? OptionalLong.of(
                        memory.get().capacity() - reserved(memory.get().capacity()))
                : OptionalLong.empty();
    }

    private long reserved(long capacity) {
        NodeReservations withoutThresholds =
                options.reservations.reserved().withHardEviction(EvictionThresholds.parse(Map.of()));
        Quantity reserved = withoutThresholds
                .of(Map.of("memory", Quantities.of("memory", capacity)))
                .get("memory");
        return reserved == null ? 0 : Quantities.whole(reserved);
    }
}
