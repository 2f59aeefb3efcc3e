package dev.podcache.controlplane.nodelifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ZoneStateTest {

    @ParameterizedTest
    @CsvSource({
        "0, 1, FULL_DISRUPTION",
        "1, 0, NORMAL",
        "1, 2, NORMAL",
        "2, 3, PARTIAL_DISRUPTION",
        "3, 3, NORMAL",
        "0, 0, NORMAL",
        "9, 11, PARTIAL_DISRUPTION",
        "46, 54, NORMAL",
        "45, 55, PARTIAL_DISRUPTION"
    })
    void zone_byReadyAndNotReadyNodes(int ready, int notReady, ZoneState state) {
        assertThat(ZoneState.of(ready, notReady, 0.55)).isEqualTo(state);
    }

    @ParameterizedTest
    @CsvSource({
        "INITIAL, FULL_DISRUPTION, STOP",
        "NORMAL, FULL_DISRUPTION, STOP",
        "FULL_DISRUPTION, FULL_DISRUPTION, STAY_STOPPED",
        "FULL_DISRUPTION, NORMAL, RESUME",
        "FULL_DISRUPTION, PARTIAL_DISRUPTION, RESUME",
        "INITIAL, NORMAL, BY_ZONE",
        "NORMAL, PARTIAL_DISRUPTION, BY_ZONE"
    })
    void oneZone_decidesForTheCluster(ZoneState before, ZoneState after, DisruptionMode mode) {
        assertThat(DisruptionMode.of(List.of(before), List.of(after))).isEqualTo(mode);
    }

    @ParameterizedTest
    @CsvSource({
        "FULL_DISRUPTION, NORMAL, FULL_DISRUPTION, NORMAL, BY_ZONE",
        "FULL_DISRUPTION, NORMAL, FULL_DISRUPTION, FULL_DISRUPTION, STOP",
        "FULL_DISRUPTION, FULL_DISRUPTION, NORMAL, FULL_DISRUPTION, RESUME",
        "FULL_DISRUPTION, INITIAL, FULL_DISRUPTION, FULL_DISRUPTION, STOP",
        "FULL_DISRUPTION, INITIAL, FULL_DISRUPTION, NORMAL, RESUME"
    })
    void twoZones_stopOnlyTogether(
            ZoneState before1, ZoneState before2, ZoneState after1, ZoneState after2, DisruptionMode mode) {
        assertThat(DisruptionMode.of(List.of(before1, before2), List.of(after1, after2)))
                .isEqualTo(mode);
    }
}
