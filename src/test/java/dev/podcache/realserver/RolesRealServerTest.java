package dev.podcache.realserver;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.podcache.Podcache;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.ObjectUnavailableException.NotSynced;
import dev.podcache.testing.Needs;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.ServerFeature;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.time.Duration;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.LoggerFactory;

/** Strategy WATCH for a service account whose Role names two Secrets, with each verb missing in turn. */
@RealServerTest
@Needs({ServerFeature.RBAC, ServerFeature.SERVICE_ACCOUNTS, ServerFeature.TOKENS})
@ExtendWith(NoLeaks.class)
class RolesRealServerTest {

    private final TestNamespace shop = new TestNamespace(RealApiServer.shared());

    @BeforeEach
    void createSecrets(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        shop.put("db", "v1");
        shop.put("cert", "v1");
    }

    @AfterEach
    void close() {
        shop.close();
    }

    @Test
    void getListWatch_namedObjectsAreFollowed_andNoOthers() {
        withCache("get,list,watch", Duration.ofSeconds(10), cache -> {
            assertBothAreFollowed(cache);
            shop.put("other", "v1");
            cache.registerPod(shop.pod("web-2", "", "other"));

            await().until(() -> cache.secrets().state(shop.name(), "other").lastFailure() != null);
            assertThat(cache.secrets().state(shop.name(), "other").lastFailure())
                    .hasMessageContaining("metadata.name=other was answered 403");
        });
    }

    @Test
    void withoutList_namedObjectsAreFollowed_andThatIsSaidOnce() {
        ListAppender<ILoggingEvent> said = new ListAppender<>();
        Logger logger = (Logger) LoggerFactory.getLogger("dev.podcache.store.ListOrGet");
        said.start();
        logger.addAppender(said);
        try {
            withCache("get,watch", Duration.ofSeconds(10), cache -> {
                assertBothAreFollowed(cache);
                shop.delete("cert");
                await().untilAsserted(() ->
                        assertThatThrownBy(() -> get(cache, "cert")).isInstanceOf(NotFound.class));
            });
        } finally {
            logger.detachAppender(said);
        }
        assertThat(said.list)
                .singleElement()
                .extracting(ILoggingEvent::getFormattedMessage)
                .asString()
                .startsWith("LIST secrets in " + shop.name() + " with metadata.name=")
                .contains("grant the verb list");
    }

    @Test
    void withoutWatch_getFailsAndNamesVerbAndObject() {
        withCache("get,list", Duration.ofSeconds(1), cache -> {
            cache.registerPod(shop.pod("web", "", "db"));

            assertThatThrownBy(() -> get(cache, "db"))
                    .isInstanceOf(NotSynced.class)
                    .hasMessageContaining("Secret " + shop.name() + "/db")
                    .hasMessageContaining("WATCH secrets in " + shop.name() + " with metadata.name=db was answered 403")
                    .hasMessageContaining("cannot watch resource");
        });
    }

    /** A streamed list needs no verb but watch. */
    @Test
    void withoutListAndGet_namedObjectsAreFollowedWhereListsAreStreamed_elseGetNamesVerbAndObject() {
        if (RealApiServer.shared().version().streamsLists()) {
            withCache("watch", Duration.ofSeconds(30), this::assertBothAreFollowed);
            return;
        }
        withCache("watch", Duration.ofSeconds(1), cache -> {
            cache.registerPod(shop.pod("web", "", "db"));

            assertThatThrownBy(() -> get(cache, "db"))
                    .isInstanceOf(NotSynced.class)
                    .hasMessageContaining("Secret " + shop.name() + "/db")
                    .hasMessageContaining("LIST secrets in " + shop.name() + " with metadata.name=db was answered 403")
                    .hasMessageContaining("cannot list resource");
        });
    }

    private void assertBothAreFollowed(Podcache cache) {
        cache.registerPod(shop.pod("web", "", "db", "cert"));
        assertThat(get(cache, "db")).isEqualTo("v1");
        assertThat(get(cache, "cert")).isEqualTo("v1");
        shop.put("db", "v2");
        shop.put("cert", "v3");
        await().until(() -> get(cache, "db").equals("v2"));
        await().until(() -> get(cache, "cert").equals("v3"));
    }

    private void withCache(String verbs, Duration firstSync, Consumer<Podcache> test) {
        try (KubernetesClient reader = new KubernetesClientBuilder()
                        .withConfig(shop.serviceAccount(verbs))
                        .build();
                Podcache cache =
                        Podcache.builder(reader).firstSyncTimeout(firstSync).build()) {
            // the server learns of a Role a moment after it was created
            await().until(() -> shop.readerMay(verbs.replaceAll(",.*", "")));
            test.accept(cache);
        }
    }

    private String get(Podcache cache, String secret) {
        return Secrets.value(cache.secrets().getObject(shop.name(), secret));
    }
}
