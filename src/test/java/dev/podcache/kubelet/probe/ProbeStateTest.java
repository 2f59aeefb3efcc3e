package dev.podcache.kubelet.probe;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The thresholds of {@code worker_test.go} of Kubernetes, with its tests' names. */
class ProbeStateTest {

    private static ProbeState state(ProbeKind kind, int successThreshold, int failureThreshold) {
        ProbeState state = new ProbeState(kind, successThreshold, failureThreshold);
        state.container("test://first", null);
        return state;
    }

    private static void check(ProbeState state, boolean success, int times, ProbeResult expected) {
        for (int time = 1; time <= times; time++) {
            state.checked(success);
            assertThat(state.result()).as("check %d", time).isEqualTo(expected);
        }
    }

    @Test
    void failureThreshold() {
        ProbeState state = state(ProbeKind.READINESS, 1, 3);

        for (int round = 0; round < 2; round++) {
            check(state, true, 3, ProbeResult.SUCCESS);
            check(state, false, 2, ProbeResult.SUCCESS);
            check(state, false, 3, ProbeResult.FAILURE);
        }
    }

    @Test
    void successThreshold() {
        ProbeState state = state(ProbeKind.READINESS, 3, 1);

        for (int round = 0; round < 2; round++) {
            check(state, true, 2, ProbeResult.FAILURE);
            check(state, true, 3, ProbeResult.SUCCESS);
            check(state, false, 1, ProbeResult.FAILURE);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"LIVENESS", "STARTUP"})
    void onHoldOnLivenessOrStartupCheckFailure(ProbeKind kind) {
        ProbeState state = state(kind, 1, 1);

        check(state, false, 1, ProbeResult.FAILURE);
        assertThat(state.onHold()).isTrue();

        state.notRunning();
        assertThat(state.container("test://first", null)).isFalse();
        assertThat(state.onHold()).isTrue();

        assertThat(state.container("test://second", null)).isTrue();
        assertThat(state.onHold()).isFalse();
        assertThat(state.result()).isEqualTo(kind.initial());
        check(state, true, 1, ProbeResult.SUCCESS);
        assertThat(state.onHold()).isFalse();
    }

    @Test
    void resultRunOnLivenessCheckFailure() {
        ProbeState state = state(ProbeKind.LIVENESS, 1, 3);

        check(state, true, 1, ProbeResult.SUCCESS);
        assertThat(state.resultRun()).isOne();
        check(state, false, 1, ProbeResult.SUCCESS);
        assertThat(state.resultRun()).isOne();
        check(state, false, 1, ProbeResult.SUCCESS);
        assertThat(state.resultRun()).isEqualTo(2);
        check(state, false, 1, ProbeResult.FAILURE);
        assertThat(state.resultRun()).isZero();
    }

    @Test
    void resultRunOnStartupCheckFailure() {
        ProbeState state = state(ProbeKind.STARTUP, 1, 3);

        check(state, false, 1, ProbeResult.UNKNOWN);
        assertThat(state.resultRun()).isOne();
        check(state, false, 1, ProbeResult.UNKNOWN);
        assertThat(state.resultRun()).isEqualTo(2);
        check(state, false, 1, ProbeResult.FAILURE);
        assertThat(state.resultRun()).isZero();
    }

    @Test
    void container_another_countsFromTheBeginning() {
        ProbeState state = state(ProbeKind.READINESS, 2, 1);
        check(state, true, 1, ProbeResult.FAILURE);

        state.container("test://second", null);

        check(state, true, 1, ProbeResult.FAILURE);
        check(state, true, 1, ProbeResult.SUCCESS);
    }
}
