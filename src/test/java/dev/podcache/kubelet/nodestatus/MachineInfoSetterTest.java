package dev.podcache.kubelet.nodestatus;

import static dev.podcache.kubelet.nodestatus.NodeStatusFixture.NOW;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableMap;
import dev.podcache.kubelet.host.HostFacts.Supply;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.NodeSystemInfo;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Upstream's TestMachineInfo, with the two cores and 1024 bytes of {@link FakeHost}. */
@ExtendWith(NoLeaks.class)
class MachineInfoSetterTest {

    private final NodeStatusFixture status = new NodeStatusFixture();
    private final FakeHost host = new FakeHost();
    private MachineInfoSetter.PodLimits limits = new MachineInfoSetter.PodLimits(110, 0);
    private boolean localStorage = true;
    private ImmutableMap<String, Quantity> reservation = ImmutableMap.of();

    private void set() {
        new MachineInfoSetter(host, limits, localStorage, capacity -> reservation, status.events).set(status.node, NOW);
    }

    private String capacity(String resource) {
        return text(status.node.getStatus().getCapacity(), resource);
    }

    private String allocatable(String resource) {
        return text(status.node.getStatus().getAllocatable(), resource);
    }

    private static String text(Map<String, Quantity> resources, String resource) {
        return String.valueOf(resources.get(resource));
    }

    private void had(String resource, String capacity) {
        status.node.getStatus().getCapacity().put(resource, new Quantity(capacity));
    }

    @Test
    void set_nothingReserved_allIsAllocatable() {
        set();
        assertThat(status.node.getStatus().getCapacity())
                .isEqualTo(ImmutableMap.of(
                        "cpu", new Quantity("2"),
                        "memory", new Quantity("1Ki"),
                        "pods", new Quantity("110"),
                        "ephemeral-storage", new Quantity("5000")));
        assertThat(status.node.getStatus().getAllocatable())
                .isEqualTo(status.node.getStatus().getCapacity());
    }

    @ParameterizedTest
    @CsvSource({"110, 0, 110", "10, 4, 8", "10, 6, 10", "2147483647, 2147483647, 2147483647"})
    void set_podLimits_theLesserHolds(int max, int perCore, String expected) {
        limits = new MachineInfoSetter.PodLimits(max, perCore);
        set();
        assertThat(capacity("pods")).isEqualTo(expected);
    }

    @Test
    void set_oneOfEachReserved_theRestIsAllocatable() {
        reservation =
                ImmutableMap.of("cpu", Quantity.parse("1m"), "memory", new Quantity("1"), "pods", new Quantity("1"));
        set();
        assertThat(allocatable("cpu")).isEqualTo("1999m");
        assertThat(allocatable("memory")).isEqualTo("1023");
        assertThat(allocatable("pods")).isEqualTo("109");
        assertThat(capacity("cpu")).isEqualTo("2");
    }

    /** Upstream's TestUpdateNewNodeStatusTooLargeReservation. */
    @Test
    void set_moreReservedThanThere_nothingIsAllocatable() {
        reservation = ImmutableMap.of("cpu", Quantity.parse("40000m"));
        set();
        assertThat(allocatable("cpu")).isEqualTo("0");
    }

    @Test
    void set_hugePagesInTheCapacity_areNotOrdinaryMemory() {
        had("hugepages-test", "1");
        set();
        assertThat(allocatable("memory")).isEqualTo("1023");
        assertThat(allocatable("hugepages-test")).isEqualTo("1");
    }

    @Test
    void set_hugePagesOfTheHost_areReportedBySize() {
        host.memory = Optional.of(new Supply(8L << 30, 0));
        host.hugePages = ImmutableMap.of(2048L, 512L, 1048576L, 0L);
        set();
        assertThat(capacity("hugepages-2Mi")).isEqualTo("1Gi");
        assertThat(capacity("hugepages-1Gi")).isEqualTo("0");
        assertThat(allocatable("memory")).isEqualTo("7Gi");
    }

    @Test
    void set_negativeCapacity_nothingIsAllocatable() {
        had("negative-resource", "-1");
        set();
        assertThat(allocatable("negative-resource")).isEqualTo("0");
    }

    @Test
    void set_extendedResourceThatIsGone_isNoLongerAllocatable() {
        status.node.getStatus().getAllocatable().put("example.com/extended", new Quantity("1"));
        status.node.getStatus().getAllocatable().put("kubernetes.io/stays", new Quantity("1"));
        set();
        assertThat(status.node.getStatus().getAllocatable())
                .doesNotContainKey("example.com/extended")
                .containsKey("kubernetes.io/stays");
    }

    @Test
    void set_extendedResourceOfAnotherComponent_isKeptAndAllocatable() {
        had("example.com/extended", "3");
        set();
        assertThat(capacity("example.com/extended")).isEqualTo("3");
        assertThat(allocatable("example.com/extended")).isEqualTo("3");
    }

    @Test
    @ExpectedWarnings("processors (0) or memory (1024 bytes) cannot be read")
    void set_processorsUnknown_reportsNoneAndNoMemoryButAllPods() {
        host.cores = OptionalInt.empty();
        limits = new MachineInfoSetter.PodLimits(110, 1);
        set();
        for (String resource : new String[] {"cpu", "memory"}) {
            assertThat(capacity(resource)).isEqualTo("0");
            assertThat(allocatable(resource)).isEqualTo("0");
        }
        assertThat(capacity("pods")).isEqualTo("110");
        assertThat(allocatable("pods")).isEqualTo("110");
    }

    @Test
    void set_fileSystemUnknown_reportsNoEphemeralStorage() {
        host.bytes = Optional.empty();
        set();
        assertThat(status.node.getStatus().getCapacity()).doesNotContainKey("ephemeral-storage");
    }

    @Test
    void set_noLocalStorage_isNotOfferedAnyMore() {
        set();
        localStorage = false;
        set();
        assertThat(status.node.getStatus().getCapacity()).containsOnlyKeys("cpu", "memory", "pods");
        assertThat(status.node.getStatus().getAllocatable()).containsOnlyKeys("cpu", "memory", "pods");
    }

    @Test
    void set_anotherBootId_isARebootAndRecorded() {
        status.node.getStatus().setNodeInfo(new NodeSystemInfo());
        status.node.getStatus().getNodeInfo().setBootID("foo");
        host.bootId = Optional.of("bar");
        set();
        assertThat(status.node.getStatus().getNodeInfo().getBootID()).isEqualTo("bar");
        assertThat(status.recorded.lines())
                .containsExactly("Warning NodeRebooted Node test-kubelet-node has been rebooted, boot id: bar");
    }

    @ParameterizedTest
    @CsvSource({"boot", "''"})
    void set_theSameBootIdOrNone_isNoReboot(String before) {
        status.node.getStatus().setNodeInfo(new NodeSystemInfo());
        status.node.getStatus().getNodeInfo().setBootID(before);
        set();
        assertThat(status.node.getStatus().getNodeInfo().getBootID()).isEqualTo("boot");
        assertThat(status.recorded.lines()).isEmpty();
    }

    @Test
    void set_always_reportsTheMachine() {
        set();
        assertThat(status.node.getStatus().getNodeInfo().getMachineID()).isEqualTo("MachineID");
        assertThat(status.node.getStatus().getNodeInfo().getSystemUUID()).isEqualTo("SystemUUID");
    }
}
