package dev.podcache.kubelet.nodestatus;

import com.google.common.base.Joiner;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Maps;
import dev.podcache.kubelet.eviction.EvictionSignal;
import dev.podcache.kubelet.eviction.EvictionThresholds;
import dev.podcache.kubelet.host.Quantities;
import dev.podcache.object.Amounts;
import dev.podcache.object.Quoted;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The part of a node's capacity that pods cannot use. It is reserved for the operating system, for Kubernetes' own
 * daemons, and for the hard eviction thresholds. Immutable.
 */
public final class NodeReservations {

    private static final Quantity UNKNOWN = new Quantity("0");
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

    /** Returns the kubelet's default: only the reservation of the default eviction thresholds. */
    public static NodeReservations none() {
        return new NodeReservations(ImmutableMap.of(), ImmutableMap.of(), EvictionThresholds.defaults());
    }

    /**
     * Returns a copy with another {@code systemReserved}, such as {@code cpu: 200m, memory: 500Mi}.
     *
     * @throws IllegalArgumentException if a resource is not cpu, memory, ephemeral-storage or pid, or an amount is
     *     negative or not a quantity; the message names the resource and the rule
     */
    public NodeReservations withSystemReserved(Map<String, String> reserved) {
        return new NodeReservations(parsed(reserved), kube, hardEviction);
    }

    /**
     * Returns a copy with another {@code kubeReserved}.
     *
     * @throws IllegalArgumentException as {@link #withSystemReserved}
     */
    public NodeReservations withKubeReserved(Map<String, String> reserved) {
        return new NodeReservations(system, parsed(reserved), hardEviction);
    }

    /** Returns a copy with other eviction thresholds. A node agent sets those that it evicts by. */
    public NodeReservations withHardEviction(EvictionThresholds thresholds) {
        return new NodeReservations(system, kube, thresholds);
    }

    /** Returns the fields of a KubeletConfiguration with these reservations; unmodifiable. */
    public Map<String, Object> fields() {
        return ImmutableMap.of("systemReserved", plain(system), "kubeReserved", plain(kube));
    }

    private static Map<String, String> plain(Map<String, BigDecimal> amounts) {
        return ImmutableMap.copyOf(Maps.transformValues(amounts, BigDecimal::toPlainString));
    }

    private static ImmutableMap<String, BigDecimal> parsed(Map<String, String> reserved) {
        ImmutableMap.Builder<String, BigDecimal> parsed = ImmutableMap.builder();
        reserved.forEach((resource, text) -> {
            if (!RESERVABLE.contains(resource)) {
                throw new IllegalArgumentException("resource " + Quoted.value(resource)
                        + " cannot be reserved; use one of " + Joiner.on(", ").join(RESERVABLE));
            }
            BigDecimal amount = Amounts.of(Quantities.parse(resource, text));
            if (amount.signum() < 0) {
                throw new IllegalArgumentException(
                        "reservation of " + resource + " must not be negative, but is " + text);
            }
            parsed.put(resource, amount);
        });
        return parsed.buildOrThrow();
    }

    /** Returns the reservation of each resource in {@code capacity}, without resources that have none; unmodifiable. */
    public Map<String, Quantity> of(Map<String, Quantity> capacity) {
        ImmutableMap.Builder<String, Quantity> reserved = ImmutableMap.builder();
        capacity.forEach((resource, amount) -> {
            BigDecimal sum = system.getOrDefault(resource, BigDecimal.ZERO)
                    .add(kube.getOrDefault(resource, BigDecimal.ZERO))
                    .add(BigDecimal.valueOf(evictionReserve(resource, amount)));
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
     * Checks that no reservation exceeds the capacity. A capacity of zero is not checked: it could not be read, and the
     * machine may well have what is reserved.
     *
     * @throws IllegalArgumentException naming each resource that exceeds it, with its reservation and its capacity
     */
    void validate(Map<String, Quantity> capacity) {
        List<String> excesses = new ArrayList<>();
        of(capacity).forEach((resource, reserved) -> {
            BigDecimal available = Amounts.of(capacity.getOrDefault(resource, UNKNOWN));
            if (available.signum() != 0 && Amounts.of(reserved).compareTo(available) > 0) {
                excesses.add("resource \"" + resource + "\" has a reservation of " + reserved + " but capacity of "
                        + capacity.get(resource) + ". Expected capacity >= reservation.");
            }
        });
        if (!excesses.isEmpty()) {
            throw new IllegalArgumentException("invalid Node Allocatable configuration. " + String.join(" ", excesses)
                    + " Lower systemReserved, kubeReserved or the threshold in evictionHard");
        }
    }
}
