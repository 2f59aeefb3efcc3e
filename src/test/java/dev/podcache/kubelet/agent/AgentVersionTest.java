package dev.podcache.kubelet.agent;

import static org.assertj.core.api.Assertions.assertThat;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AgentVersionTest {

    /** kubeadm refuses to upgrade a cluster whose nodes are older than the minor versions that it knows. */
    @ParameterizedTest
    @CsvSource({"0.1.0-SNAPSHOT, v1.36.0-podcache.0.1", "1.12.3, v1.36.0-podcache.1.12", ", v1.36.0-podcache.0.1"})
    void of_versionOfPodcache_followsThatOfTheKubelet(@Nullable String own, String expected) {
        assertThat(AgentVersion.of(own)).isEqualTo(expected);
    }
}
