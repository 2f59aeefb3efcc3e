package dev.podcache.kubelet.runtime;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Optional;
import org.junit.jupiter.api.Test;

class RuntimeStatusTest {

    @Test
    @SuppressWarnings("NullAway") // what a runtime without static checks may do
    void new_partIsNull_isRefusedByName() {
        assertThatThrownBy(() -> RuntimeStatus.ready(null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("version");
        assertThatThrownBy(() -> new RuntimeStatus("1", null, Optional.empty()))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("problem");
        assertThatThrownBy(() -> new RuntimeStatus("1", Optional.empty(), null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("networkProblem");
    }
}
