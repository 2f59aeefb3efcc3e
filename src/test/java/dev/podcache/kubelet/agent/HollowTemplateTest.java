package dev.podcache.kubelet.agent;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Templates that are not valid are refused before anything is started: {@link NoLeaks} finds a thread that is left. */
@ExtendWith(NoLeaks.class)
class HollowTemplateTest {

    private final KubernetesClient client = new KubernetesClientBuilder()
            .withConfig(new ConfigBuilder(Config.empty())
                    .withMasterUrl("http://127.0.0.1:1")
                    .build())
            .build();

    @AfterEach
    void tearDown() {
        client.close();
    }

    private void assertRefused(HollowTemplate template, String message) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> HollowNodes.start(client, 1, template))
                .withMessageContaining(message);
    }

    @Test
    void leaseIsShorterThanFourSeconds_isRefused() {
        assertRefused(new HollowTemplate().leaseDuration(Duration.ofSeconds(3)), "leaseDuration must be at least");
    }

    @Test
    void syncFrequencyIsZero_isRefused() {
        assertRefused(new HollowTemplate().syncFrequency(Duration.ZERO), "syncFrequency must be positive");
    }

    @Test
    void labelIsIllegal_isRefused() {
        assertRefused(new HollowTemplate().labels(Map.of("zone", "a b")), "label zone");
    }

    @Test
    void nameOfTheLastNodeIsTooLong_isRefused() {
        HollowTemplate template = new HollowTemplate().prefix("a".repeat(252));

        assertThatIllegalArgumentException()
                .isThrownBy(() -> HollowNodes.start(client, 11, template))
                .withMessageContaining("at most 253");
    }
}
