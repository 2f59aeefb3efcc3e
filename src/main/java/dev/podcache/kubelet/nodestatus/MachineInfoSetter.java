package dev.podcache.kubelet.nodestatus;

import dev.podcache.kubelet.host.HostFacts;
import dev.podcache.kubelet.host.HostFacts.Supply;
import dev.podcache.kubelet.host.Quantities;
import dev.podcache.kubelet.host.ResourceNames;
import dev.podcache.object.Amounts;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeSystemInfo;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sets the machine's ids, the capacity, and the allocatable resources. Keeps resources that other components have added
 * to the capacity. After upstream's {@code MachineInfo}, without device plugins: for devices, add another setter after
 * this one.
 */
final class MachineInfoSetter implements NodeStatusSetter {

    private static final Logger log = LoggerFactory.getLogger(MachineInfoSetter.class);

    private static final long KIB = 1024;
    private static final String LOCAL_STORAGE = "ephemeral-storage";

    private final HostFacts facts;
    private final PodLimits limits;
    private final boolean localStorage;
    private final Function<Map<String, Quantity>, ? extends Map<String, Quantity>> reservations;
    private final NodeEvents events;

    /** The maximum number of pods on the node, in total and for each core; {@code perCore} 0 is no limit. */
    record PodLimits(int max, int perCore) {

        int of(int cores) {
            return perCore > 0 ? (int) Math.min((long) cores * perCore, max) : max;
        }
    }

    /**
     * Creates a setter.
     *
     * @param localStorage whether the node offers its ephemeral storage
     */
    MachineInfoSetter(
            HostFacts facts,
            PodLimits limits,
            boolean localStorage,
            Function<Map<String, Quantity>, ? extends Map<String, Quantity>> reservations,
            NodeEvents events) {
        this.facts = facts;
        this.limits = limits;
        this.localStorage = localStorage;
        this.reservations = reservations;
        this.events = events;
    }

    @Override
    public void set(Node node, Instant now) {
        setIdentity(node);
        Map<String, Quantity> capacity = new LinkedHashMap<>(node.getStatus().getCapacity());
        capacity.putAll(capacity(facts, limits));
        Map<String, Quantity> allocatable =
                allocatable(capacity, node.getStatus().getAllocatable());
        if (!localStorage) {
            // an earlier agent may have offered it
            capacity.remove(LOCAL_STORAGE);
            allocatable.remove(LOCAL_STORAGE);
        }
        node.getStatus().setCapacity(capacity);
        node.getStatus().setAllocatable(allocatable);
    }

    private void setIdentity(Node node) {
        NodeSystemInfo info = VersionInfoSetter.infoOf(node);
        facts.machineId().ifPresent(info::setMachineID);
        facts.systemUuid().ifPresent(info::setSystemUUID);
        facts.bootId().ifPresent(bootId -> {
            String before = info.getBootID();
            if (before != null && !before.isEmpty() && !before.equals(bootId)) {
                events.rebooted(bootId);
            }
            info.setBootID(bootId);
        });
    }

    /** Returns the machine's capacity. If processors or memory cannot be read, both are zero. */
    static Map<String, Quantity> capacity(HostFacts facts, PodLimits limits) {
        Map<String, Quantity> capacity = new LinkedHashMap<>();
        int cores = facts.cores().orElse(0);
        long memory = facts.memory().map(Supply::capacity).orElse(0L);
        boolean known = cores > 0 && memory > 0;
        if (!known) {
            log.warn("processors ({}) or memory ({} bytes) cannot be read; the node offers neither", cores, memory);
        }
        capacity.put("cpu", Quantities.of("cpu", known ? cores : 0));
        capacity.put("memory", Quantities.of("memory", known ? memory : 0));
        capacity.put("pods", Quantities.of("pods", known ? limits.of(cores) : limits.max()));
        if (known) {
            facts.hugePages().forEach((kib, pages) -> {
                String resource = ResourceNames.HUGE_PAGES + Quantities.of("memory", kib * KIB);
                capacity.put(resource, Quantities.of(resource, kib * KIB * pages));
            });
        }
        facts.fileSystemBytes()
                .ifPresent(bytes -> capacity.put(LOCAL_STORAGE, Quantities.of(LOCAL_STORAGE, bytes.capacity())));
        return capacity;
    }

    private Map<String, Quantity> allocatable(Map<String, Quantity> capacity, Map<String, Quantity> before) {
        Map<String, Quantity> allocatable = new LinkedHashMap<>(before);
        allocatable
                .keySet()
                .removeIf(resource -> ResourceNames.isExtended(resource) && !capacity.containsKey(resource));
        Map<String, Quantity> reserved = reservations.apply(capacity);
        capacity.forEach((resource, amount) -> allocatable.put(
                resource, difference(resource, amount, reserved.getOrDefault(resource, new Quantity("0")))));
        capacity.forEach((resource, amount) -> {
            if (ResourceNames.isHugePages(resource)) {
                allocatable.computeIfPresent("memory", (memory, left) -> difference(memory, left, amount));
            }
        });
        return allocatable;
    }

    /** Returns the difference, or zero if it is negative. */
    private static Quantity difference(String resource, Quantity amount, Quantity subtrahend) {
        BigDecimal left = Amounts.of(amount).subtract(Amounts.of(subtrahend));
        return Quantities.of(resource, left.max(BigDecimal.ZERO));
    }
}
