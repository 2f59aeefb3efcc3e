package dev.podcache.realserver;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.podcache.Podcache;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectUnavailableException.NotSynced;
import dev.podcache.object.ReadConsistency;
import dev.podcache.testing.Needs;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.ServerFeature;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Strategy WATCH for a service account that gets its Role after it was refused for some time. */
@RealServerTest
@Needs({ServerFeature.RBAC, ServerFeature.SERVICE_ACCOUNTS, ServerFeature.TOKENS})
@ExtendWith(NoLeaks.class)
class GrantedLaterRealServerTest {

    /** A get asks again if the last refusal is older than a quarter of a second. */
    private static final Duration ASKED_AGAIN = Duration.ofMillis(300);

    private final TestNamespace shop = new TestNamespace(RealApiServer.shared());
    private KubernetesClient reader;
    private Podcache cache;

    @BeforeEach
    void refuseForSomeTime(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        shop.put("db", "v1");
        reader = new KubernetesClientBuilder()
                .withConfig(shop.accountWithoutAccess())
                .build();
        cache = Podcache.builder(reader).build();
        cache.registerPod(shop.pod("web", "", "db"));
        // each get that asks makes the pause after it longer
        for (int i = 0; i < 12; i++) {
            await().pollDelay(ASKED_AGAIN).until(() -> refusal().reason() == FailureReason.FORBIDDEN);
        }
        assertThat(refusal()).hasMessageContaining("was answered 403");
    }

    @AfterEach
    void close() {
        cache.close();
        reader.close();
        shop.close();
    }

    private NotSynced refusal() {
        return catchThrowableOfType(NotSynced.class, this::get);
    }

    private String get() {
        return Secrets.value(cache.secrets().getObject(shop.name(), "db"));
    }

    private void grant() {
        shop.kubectl("create", "role", "reader", "--verb=get,list,watch", "--resource=secrets", "--resource-name=db");
        shop.allowReader();
        await().until(() -> shop.readerMay("get"));
    }

    @Test
    void granted_theNextGetSucceeds() {
        grant();
        Throwable before = cache.secrets().state(shop.name(), "db").lastFailure();
        await().pollDelay(ASKED_AGAIN).until(() -> before != null);

        assertThat(get()).isEqualTo("v1");
        assertThat(cache.secrets().state(shop.name(), "db").cacheState()).isEqualTo(CacheState.FRESH);
    }

    @Test
    void granted_aLatestReadBringsBackTheWatch() {
        grant();
        assertThat(Secrets.value(cache.secrets().getObject(shop.name(), "db", ReadConsistency.latest())))
                .isEqualTo("v1");
        assertThat(get()).isEqualTo("v1");

        await().atMost(Duration.ofSeconds(10))
                .until(() -> cache.secrets().state(shop.name(), "db").cacheState() == CacheState.FRESH);
    }
}
