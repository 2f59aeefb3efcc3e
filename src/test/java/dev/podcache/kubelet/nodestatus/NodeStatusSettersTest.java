package dev.podcache.kubelet.nodestatus;

import static dev.podcache.kubelet.nodestatus.NodeStatusFixture.NAME;
import static dev.podcache.kubelet.nodestatus.NodeStatusFixture.NOW;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.kubelet.eviction.EvictionThresholds;
import dev.podcache.kubelet.eviction.PressureType;
import dev.podcache.kubelet.host.HostFacts.Supply;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.NodeStatus;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

class NodeStatusSettersTest {

    private final NodeStatusFixture status = new NodeStatusFixture();
    private final FakeHost host = new FakeHost().withAddresses("10.1.1.1");
    private final NodeStatusSetters setters = NodeStatusSetters.standard(NAME, host, status.recorded);

    NodeStatusSettersTest() {
        host.memory = Optional.of(new Supply(20_000_000_000L, 10_000_000_000L));
        host.defaultRoutes = host.addresses;
        setters.nodeIps(NodeIps.parse("10.1.1.1"));
    }

    private NodeStatus set() {
        setters.build().forEach(setter -> setter.set(status.node, NOW));
        return status.node.getStatus();
    }

    @Test
    void build_freshNode_hasTheKubeletsConditionsWithReadyLast() {
        assertThat(set().getConditions())
                .extracting(condition -> condition.getType() + " " + condition.getStatus())
                .containsExactly("MemoryPressure False", "DiskPressure False", "PIDPressure False", "Ready True");
    }

    /** The first sync of upstream's TestUpdateNodeStatusWithLease. */
    @Test
    void build_reserved_allocatableIsTheRest() {
        setters.reservations(NodeReservations.none()
                .withSystemReserved(Map.of("cpu", "100m", "memory", "50M"))
                .withKubeReserved(Map.of("cpu", "100m", "memory", "50M"))
                .withHardEviction(EvictionThresholds.parse(Map.of())));
        NodeStatus set = set();
        assertThat(set.getCapacity()).hasToString("{cpu=2, memory=19531250Ki, pods=110, ephemeral-storage=5000}");
        assertThat(set.getAllocatable())
                .hasToString("{cpu=1800m, memory=19900000000, pods=110, ephemeral-storage=5000}");
    }

    @Test
    void build_moreReservedThanThere_isRefusedWithNamesAndNumbers() {
        setters.reservations(NodeReservations.none().withSystemReserved(Map.of("cpu", "3")));
        assertThatThrownBy(setters::build)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("resource \"cpu\" has a reservation of 3 but capacity of 2");
    }

    @Test
    @ExtendWith(NoLeaks.class)
    @ExpectedWarnings("memory (0 bytes) cannot be read")
    void build_memoryUnknown_isReportedAsNoneWhateverIsReserved() {
        host.memory = Optional.empty();
        setters.reservations(NodeReservations.none()
                .withSystemReserved(Map.of("cpu", "100m", "memory", "50M"))
                .withHardEviction(EvictionThresholds.parse(Map.of("memory.available", "100Mi"))));
        NodeStatus set = set();
        assertThat(set.getCapacity()).containsEntry("memory", new Quantity("0"));
        assertThat(set.getAllocatable()).containsEntry("memory", new Quantity("0"));
        assertThat(set.getConditions())
                .extracting(condition -> condition.getType() + " " + condition.getStatus())
                .contains("MemoryPressure False", "Ready True");
    }

    @Test
    void build_always_setsKubeletPortAndPlatform() {
        setters.kubeletPort(() -> OptionalInt.of(10255));
        NodeStatus set = set();
        assertThat(set.getDaemonEndpoints().getKubeletEndpoint().getPort()).isEqualTo(10255);
        assertThat(set.getNodeInfo().getOperatingSystem()).isEqualTo("linux");
        assertThat(set.getNodeInfo().getArchitecture()).isEqualTo("amd64");
        assertThat(set.getAddresses())
                .extracting(address -> address.getAddress())
                .containsExactly("10.1.1.1", NAME);
    }

    @Test
    void build_pressure_isReportedAsItsSourceSays() {
        setters.pressure(type -> type == PressureType.DISK);
        assertThat(set().getConditions())
                .extracting(condition -> condition.getType() + " " + condition.getStatus())
                .contains("MemoryPressure False", "DiskPressure True", "PIDPressure False");
    }

    @Test
    void build_suppliers_areReported() {
        setters.images(() -> List.of(new NodeImage(List.of(), List.of("pause"), 1)))
                .versions(new NodeVersions("v1", "rt", () -> "2"))
                .podLimits(7, 0);
        NodeStatus set = set();
        assertThat(set.getImages()).hasSize(1);
        assertThat(set.getNodeInfo().getContainerRuntimeVersion()).isEqualTo("rt://2");
        assertThat(set.getCapacity().get("pods")).hasToString("7");
    }

    @Test
    void build_computedTwice_changesNothing() {
        List<NodeStatusSetter> built = setters.build();
        built.forEach(setter -> setter.set(status.node, NOW));
        String first = status.node.toString();
        int events = status.recorded.events().size();
        built.forEach(setter -> setter.set(status.node, NOW));
        assertThat(status.node).hasToString(first);
        assertThat(status.recorded.events()).hasSize(events);
    }

    @Test
    void options_invalid_areRefusedWithTheirValue() {
        assertThatThrownBy(() -> setters.podLimits(-1, 0)).hasMessageContaining("maxPods is -1");
    }
}
