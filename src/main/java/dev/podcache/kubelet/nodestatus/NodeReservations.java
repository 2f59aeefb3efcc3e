package dev.podcache.kubelet.nodestatus;

import com.google.common.base.Joiner;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import dev.podcache.kubelet.eviction.EvictionSignal;
import dev.podcache.kubelet.eviction.EvictionThresholds;
import dev.podcache.object.Amounts;
import dev.podcache.object.Quoted;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What of a node's capacity pods do not get: it is kept for the operating system, for Kubernetes' own daemons, and as
 * the reserve that hard eviction defends. Immutable.
 */
public final class NodeReservations {

    private static final ImmutableSet<String> RESERVABLE = ImmutableSet.of("cpu", "memory", "ephemeral-storage", "pid");

    private final ImmutableMap<String, BigDecimal> system;
    private final ImmutableMap<String, BigDecimal> kube;
    private final EvictionThresholds hardEviction;

    private NodeReservations(
            ImmutableMap<String, BigDecimal> system,
            ImmutableMap<String, BigDecimal> kube,
            EvictionThresholds hardEviction) {
        this.system = system;
        this.kube = kube;
        this.hardEviction = hardEviction;
    }

    /** Nothing but the default reserve against eviction: what the kubelet has without configuration. */
    public static NodeReservations none() {
        return new NodeReservations(ImmutableMap.of(), ImmutableMap.of(), EvictionThresholds.defaults());
    }

    /**
     * These with another {@code systemReserved}, such as {@code cpu: 200m, memory: 500Mi}.
     *
     * @throws IllegalArgumentException if something else than cpu, memory, ephemeral-storage or pid is reserved, or an
     *     amount is negative or no quantity; says which, and what is allowed
     */
    public NodeReservations withSystemReserved(Map<String, String> reserved) {
        return new NodeReservations(parsed(reserved), kube, hardEviction);
    }

    /** These with another {@code kubeReserved}; throws as {@link #withSystemReserved}. */
    public NodeReservations withKubeReserved(Map<String, String> reserved) {
        return new NodeReservations(system, parsed(reserved), hardEviction);
    }

    /** These with the reserve that other thresholds defend. */
    public NodeReservations withHardEviction(EvictionThresholds thresholds) {
        return new NodeReservations(system, kube, thresholds);
    }

    private static ImmutableMap<String, BigDecimal> parsed(Map<String, String> reserved) {
        ImmutableMap.Builder<String, BigDecimal> parsed = ImmutableMap.builder();
        reserved.forEach((resource, text) -> {
            if (!RESERVABLE.contains(resource)) {
                throw new IllegalArgumentException(
                        "resource " + Quoted.value(resource) + " cannot be reserved: those that can are "
                                + Joiner.on(", ").join(RESERVABLE));
            }
            BigDecimal amount = Amounts.of(Quantities.parse(resource, text));
            if (amount.signum() < 0) {
                throw new IllegalArgumentException(
                        "what is reserved of " + resource + " cannot be negative, and is " + text + ": leave it out");
            }
            parsed.put(resource, amount);
        });
        return parsed.buildOrThrow();
    }

    /** The thresholds that were given. */
    EvictionThresholds hardEviction() {
        return hardEviction;
    }

    /** What is kept of each resource that the node has; resources of which nothing is kept are left out. */
    ImmutableMap<String, Quantity> of(Map<String, Quantity> capacity) {
        ImmutableMap.Builder<String, Quantity> reserved = ImmutableMap.builder();
        capacity.forEach((resource, there) -> {
            BigDecimal sum = system.getOrDefault(resource, BigDecimal.ZERO)
                    .add(kube.getOrDefault(resource, BigDecimal.ZERO))
                    .add(BigDecimal.valueOf(evictionReserve(resource, there)));
            if (sum.signum() > 0) {
                reserved.put(resource, Quantities.of(resource, sum));
            }
        });
        return reserved.buildOrThrow();
    }

    private long evictionReserve(String resource, Quantity capacity) {
        return switch (resource) {
            case "memory" -> reserve(EvictionSignal.MEMORY_AVAILABLE, capacity);
            case "ephemeral-storage" -> reserve(EvictionSignal.NODE_FS_AVAILABLE, capacity);
            default -> 0;
        };
    }

    private long reserve(EvictionSignal signal, Quantity capacity) {
        return hardEviction
                .of(signal)
                .map(threshold -> threshold.of(Quantities.whole(capacity)))
                .orElse(0L);
    }

    /**
     * Refuses to keep more than there is.
     *
     * @throws IllegalArgumentException naming each such resource, its reservation and its capacity
     */
    void validate(Map<String, Quantity> capacity) {
        List<String> excesses = new ArrayList<>();
        of(capacity).forEach((resource, reserved) -> {
            Quantity there = capacity.get(resource);
            if (there != null && Amounts.of(reserved).compareTo(Amounts.of(there)) > 0) {
                excesses.add("resource \"" + resource + "\" has a reservation of " + reserved + " but capacity of "
                        + there + ". Expected capacity >= reservation.");
            }
        });
        if (!excesses.isEmpty()) {
            throw new IllegalArgumentException("invalid Node Allocatable configuration. " + String.join(" ", excesses)
                    + " Lower systemReserved, kubeReserved or the threshold in evictionHard");
        }
    }
}
