package dev.podcache;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PodcacheBuilderTest {

    private final KubernetesClient client = new KubernetesClientBuilder()
            .withConfig(new ConfigBuilder().withMasterUrl("http://127.0.0.1:1").build())
            .build();

    @AfterEach
    void close() {
        client.close();
    }

    @Test
    void idleAfter_lessThanAMinute_isRefused() {
        PodcacheBuilder builder = Podcache.builder(client);

        assertThatThrownBy(() -> builder.idleAfter(Duration.ofSeconds(59)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("PT59S")
                .hasMessageContaining("at least PT1M");
    }

    @Test
    void backgroundRefresh_zero_isRefused() {
        PodcacheBuilder builder = Podcache.builder(client);

        assertThatThrownBy(() -> builder.backgroundRefresh(Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("PT0S")
                .hasMessageContaining("positive");
    }

    @Test
    void firstSyncTimeout_zero_isRefused() {
        PodcacheBuilder builder = Podcache.builder(client);

        assertThatThrownBy(() -> builder.firstSyncTimeout(Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("must be positive");
    }

    @Test
    void readTimeout_zero_isRefused() {
        PodcacheBuilder builder = Podcache.builder(client);

        assertThatThrownBy(() -> builder.readTimeout(Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("readTimeout must be positive, but is PT0S");
    }

    @Test
    void defaultTtl_negative_isRefused() {
        PodcacheBuilder builder = Podcache.builder(client);

        assertThatThrownBy(() -> builder.defaultTtl(Duration.ofSeconds(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("defaultTtl must be at least PT0S, but is PT-1S");
    }
}
