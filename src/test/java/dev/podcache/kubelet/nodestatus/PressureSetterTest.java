package dev.podcache.kubelet.nodestatus;

import static dev.podcache.kubelet.nodestatus.NodeStatusFixture.BEFORE;
import static dev.podcache.kubelet.nodestatus.NodeStatusFixture.NOW;
import static dev.podcache.kubelet.nodestatus.NodeStatusFixture.NOW_TEXT;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.kubelet.eviction.PressureType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Upstream's TestMemoryPressureCondition, TestDiskPressureCondition and TestPIDPressureCondition:
 * one method is one case of each.
 */
class PressureSetterTest {

    private final NodeStatusFixture status = new NodeStatusFixture();

    private void set(PressureType type, boolean pressure) {
        new PressureSetter(type, () -> pressure, status.events).set(status.node, NOW);
    }

    private static String reads(PressureType type, boolean pressure, String transition) {
        PressureType.Wording wording = type.wording(pressure);
        return String.join(
                " | ", pressure ? "True" : "False", wording.reason(), wording.message(), transition, NOW_TEXT);
    }

    private static String event(PressureType type, boolean pressure) {
        String event = type.wording(pressure).event();
        return "Normal " + event + " Node " + NodeStatusFixture.NAME + " status is now: " + event;
    }

    @ParameterizedTest
    @EnumSource
    void set_newWithoutPressure_isFalseAndRecorded(PressureType type) {
        set(type, false);
        assertThat(status.onlyCondition()).isEqualTo(reads(type, false, NOW_TEXT));
        assertThat(status.recorded.lines()).containsExactly(event(type, false));
    }

    @ParameterizedTest
    @EnumSource
    void set_newUnderPressure_isTrueAndRecorded(PressureType type) {
        set(type, true);
        assertThat(status.onlyCondition()).isEqualTo(reads(type, true, NOW_TEXT));
        assertThat(status.recorded.lines()).containsExactly(event(type, true));
    }

    @ParameterizedTest
    @EnumSource
    void set_pressureBegins_transitsAndIsRecorded(PressureType type) {
        status.withCondition(type.condition(), "False");
        set(type, true);
        assertThat(status.onlyCondition()).isEqualTo(reads(type, true, NOW_TEXT));
        assertThat(status.recorded.lines()).containsExactly(event(type, true));
    }

    @ParameterizedTest
    @EnumSource
    void set_pressureEnds_transitsAndIsRecorded(PressureType type) {
        status.withCondition(type.condition(), "True");
        set(type, false);
        assertThat(status.onlyCondition()).isEqualTo(reads(type, false, NOW_TEXT));
        assertThat(status.recorded.lines()).containsExactly(event(type, false));
    }

    @ParameterizedTest
    @EnumSource
    void set_pressureGoesOn_onlyTheHeartbeatMoves(PressureType type) {
        status.withCondition(type.condition(), "True");
        set(type, true);
        assertThat(status.onlyCondition()).isEqualTo(String.join(" | ", "True", "before", "before", BEFORE, NOW_TEXT));
        assertThat(status.recorded.lines()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void set_stillNoPressure_onlyTheHeartbeatMoves(PressureType type) {
        status.withCondition(type.condition(), "False");
        set(type, false);
        assertThat(status.onlyCondition()).isEqualTo(String.join(" | ", "False", "before", "before", BEFORE, NOW_TEXT));
        assertThat(status.recorded.lines()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void set_unknownByTheNodeController_transits(PressureType type) {
        status.withCondition(type.condition(), "Unknown");
        set(type, false);
        assertThat(status.onlyCondition()).isEqualTo(reads(type, false, NOW_TEXT));
    }

    @Test
    void set_theConditionIsThereTwice_theLastOneIsChanged() {
        status.withCondition("DiskPressure", "False").withCondition("DiskPressure", "False");
        set(PressureType.DISK, true);
        assertThat(status.node.getStatus().getConditions())
                .extracting(condition -> condition.getStatus())
                .containsExactly("False", "True");
    }

    @ParameterizedTest
    @CsvSource({
        "MEMORY, true, MemoryPressure, KubeletHasInsufficientMemory, kubelet has insufficient memory available, NodeHasInsufficientMemory",
        "MEMORY, false, MemoryPressure, KubeletHasSufficientMemory, kubelet has sufficient memory available, NodeHasSufficientMemory",
        "DISK, true, DiskPressure, KubeletHasDiskPressure, kubelet has disk pressure, NodeHasDiskPressure",
        "DISK, false, DiskPressure, KubeletHasNoDiskPressure, kubelet has no disk pressure, NodeHasNoDiskPressure",
        "PID, true, PIDPressure, KubeletHasInsufficientPID, kubelet has insufficient PID available, NodeHasInsufficientPID",
        "PID, false, PIDPressure, KubeletHasSufficientPID, kubelet has sufficient PID available, NodeHasSufficientPID"
    })
    void wording_eachType_isTheWireConstant(
            PressureType type, boolean pressure, String condition, String reason, String message, String event) {
        assertThat(type.condition()).isEqualTo(condition);
        assertThat(type.wording(pressure)).isEqualTo(new PressureType.Wording(reason, message, event));
    }
}
