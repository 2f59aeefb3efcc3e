package dev.podcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.manager.WatchScope;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

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
                .hasMessageContaining("59s")
                .hasMessageContaining("at least 1m0s");
    }

    @Test
    void backgroundRefresh_zero_isRefused() {
        PodcacheBuilder builder = Podcache.builder(client);

        assertThatThrownBy(() -> builder.backgroundRefresh(Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("but is 0s")
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
                .hasMessage("readTimeout must be positive, but is 0s");
    }

    @Test
    void defaultTtl_negative_isRefused() {
        PodcacheBuilder builder = Podcache.builder(client);

        assertThatThrownBy(() -> builder.defaultTtl(Duration.ofSeconds(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("defaultTtl must be at least 0s, but is -1s");
    }

    @Test
    void scopeNamespace_ofAClusterScopedKind_isRefused() {
        PodcacheBuilder builder = Podcache.builder(client);

        assertThatThrownBy(() -> builder.scope(ObjectKind.NODE, WatchScope.NAMESPACE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("a Node is in none")
                .hasMessageContaining("leave its scope at OBJECT");
        builder.scope(ObjectKind.NODE, WatchScope.OBJECT);
    }

    @Test
    void scopeNamespace_ofAKindThatIsNotWatched_isLogged() {
        ListAppender<ILoggingEvent> said = new ListAppender<>();
        Logger logger = (Logger) LoggerFactory.getLogger(Podcache.class);
        said.start();
        logger.setLevel(Level.INFO);
        logger.addAppender(said);
        try {
            Podcache.builder(client)
                    .strategy(ObjectKind.SECRET, ChangeDetectionStrategy.GET)
                    .scope(ObjectKind.SECRET, WatchScope.NAMESPACE)
                    .scope(ObjectKind.CONFIG_MAP, WatchScope.NAMESPACE)
                    .build()
                    .close();

            assertThat(said.list)
                    .extracting(ILoggingEvent::getFormattedMessage)
                    .containsExactly("scope NAMESPACE of Secret has no effect under strategy GET: only WATCH watches");
        } finally {
            logger.detachAppender(said);
            logger.setLevel(null);
        }
    }
}
