package dev.podcache.realserver;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.podcache.Podcache;
import dev.podcache.PodcacheBuilder;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.manager.WatchScope;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException.NotSynced;
import dev.podcache.testing.Needs;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.ServerFeature;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A service account whose Role gets the name of a Secret only after the Secret is referenced. */
@RealServerTest
@Needs({ServerFeature.RBAC, ServerFeature.SERVICE_ACCOUNTS, ServerFeature.TOKENS})
@ExtendWith(NoLeaks.class)
class GrantsFollowRealServerTest {

    private static final Duration FIRST_SYNC = Duration.ofSeconds(30);

    private final TestNamespace shop = new TestNamespace(RealApiServer.shared());
    private KubernetesClient reader;

    @BeforeEach
    void bindARoleWithoutTheSecret() {
        shop.put("db", "v1");
        reader = new KubernetesClientBuilder()
                .withConfig(shop.accountWithoutAccess())
                .build();
        shop.kubectl(
                "create", "role", "reader", "--verb=get,list,watch", "--resource=secrets", "--resource-name=other");
        shop.allowReader();
    }

    @AfterEach
    void close() {
        reader.close();
        shop.close();
    }

    private Podcache cache(UnaryOperator<PodcacheBuilder> options) {
        return options.apply(Podcache.builder(reader).grantsFollow().firstSyncTimeout(FIRST_SYNC))
                .build();
    }

    private void grant() {
        shop.kubectl(
                "patch",
                "role",
                "reader",
                "--type=json",
                "--patch=[{\"op\":\"add\",\"path\":\"/rules/0/resourceNames/-\",\"value\":\"db\"}]");
    }

    private CacheState shown(Podcache cache) {
        return cache.secrets().state(shop.name(), "db").cacheState();
    }

    private CompletableFuture<String> get(Podcache cache) {
        return CompletableFuture.supplyAsync(
                () -> Secrets.value(cache.secrets().getObject(shop.name(), "db")), NewThread.EACH);
    }

    private static String broughtBy(CompletableFuture<String> get) {
        return get.orTimeout(60, TimeUnit.SECONDS).join();
    }

    @Test
    void watch_granted_aWaitingGetHasTheSecret() {
        try (Podcache cache = cache(UnaryOperator.identity())) {
            cache.registerPod(shop.pod("web", "", "db"));
            CompletableFuture<String> get = get(cache);
            await().until(() -> shown(cache) == CacheState.WAITING_FOR_ACCESS);
            assertThat(get).isNotDone();
            grant();

            assertThat(broughtBy(get)).isEqualTo("v1");
            await().until(() -> shown(cache) == CacheState.FRESH);
        }
    }

    @Test
    void watchOfTheNamespace_granted_aWaitingGetHasTheSecret(NoLeaks leaks) {
        leaks.allowWarnings("is watched by name instead");
        try (Podcache cache = cache(options -> options.scope(ObjectKind.SECRET, WatchScope.NAMESPACE))) {
            cache.registerPod(shop.pod("web", "", "db"));
            CompletableFuture<String> get = get(cache);
            await().until(() -> shown(cache) == CacheState.WAITING_FOR_ACCESS);
            grant();

            assertThat(broughtBy(get)).isEqualTo("v1");
        }
    }

    @Test
    void cache_granted_aWaitingGetHasTheSecret() {
        try (Podcache cache = cache(options -> options.strategy(ChangeDetectionStrategy.CACHE))) {
            cache.registerPod(shop.pod("web", "", "db"));
            CompletableFuture<String> get = get(cache);
            await().until(() -> shown(cache) == CacheState.WAITING_FOR_ACCESS);
            grant();

            assertThat(broughtBy(get)).isEqualTo("v1");
            assertThat(shown(cache)).isEqualTo(CacheState.FRESH);
        }
    }

    @Test
    void direct_granted_aWaitingGetHasTheSecret() {
        try (Podcache cache =
                cache(options -> options.strategy(ChangeDetectionStrategy.GET).readTimeout(Duration.ofMinutes(1)))) {
            CompletableFuture<String> get = get(cache);
            grant();

            assertThat(broughtBy(get)).isEqualTo("v1");
        }
    }

    @Test
    void neverGranted_isForbiddenAfterTheTime(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        // far more than an answer takes: a get that gives up before the first answer knows no reason
        try (Podcache cache = cache(options -> options.firstSyncTimeout(Duration.ofSeconds(3)))) {
            cache.registerPod(shop.pod("web", "", "db"));
            await().until(() -> shown(cache) == CacheState.WAITING_FOR_ACCESS);
            NotSynced refused =
                    catchThrowableOfType(NotSynced.class, () -> cache.secrets().getObject(shop.name(), "db"));
            assertThat(refused.reason()).isEqualTo(FailureReason.FORBIDDEN);
            await().until(() -> shown(cache) == CacheState.FORBIDDEN);
            grant();
            await().until(() -> shop.readerMay("get"));

            await().until(() -> cache.secrets().findObject(shop.name(), "db").isPresent());
        }
    }
}
