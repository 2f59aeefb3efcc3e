package dev.podcache.pod;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PodEndTest {

    @ParameterizedTest
    @CsvSource(nullValues = "-", textBlock = """
            Succeeded, true
            Failed,    true
            Running,   false
            Pending,   false
            Unknown,   false
            '',        false
            -,         false
            """)
    void isTerminal_phase_onlyAtTheEnd(@Nullable String phase, boolean terminal) {
        Pod pod = new PodBuilder().withNewStatus().withPhase(phase).endStatus().build();

        assertThat(PodEnd.isTerminal(phase)).isEqualTo(terminal);
        assertThat(PodEnd.isTerminal(pod)).isEqualTo(terminal);
    }

    @Test
    void isTerminal_podWithoutStatus_isNot() {
        assertThat(PodEnd.isTerminal(new Pod())).isFalse();
    }

    @ParameterizedTest
    @CsvSource(nullValues = "-", textBlock = """
            -,                    Running,   false, false
            -,                    Succeeded, false, true
            2026-01-01T00:00:00Z, Running,   true,  true
            2026-01-01T00:00:00Z, Failed,    true,  true
            """)
    void isDue_deletedOrTerminal_is(@Nullable String deletion, String phase, boolean deleted, boolean due) {
        Pod pod = new PodBuilder()
                .withNewMetadata()
                .withDeletionTimestamp(deletion)
                .endMetadata()
                .withNewStatus()
                .withPhase(phase)
                .endStatus()
                .build();

        assertThat(PodEnd.isDeleted(pod)).isEqualTo(deleted);
        assertThat(PodEnd.isDue(pod)).isEqualTo(due);
    }
}
