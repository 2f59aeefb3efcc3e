package dev.podcache.realserver;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.podcache.Podcache;
import dev.podcache.PodcacheBuilder;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.manager.Manager;
import dev.podcache.manager.ObjectEntry;
import dev.podcache.object.CacheState;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.ReadConsistency;
import dev.podcache.object.Referrer;
import dev.podcache.object.Usage;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Reads with a consistency, without blocking and of several objects; and the options that save memory and requests. */
@RealServerTest
@ExtendWith(NoLeaks.class)
class ReadsRealServerTest {

    private static final int WRITES = 30;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final RealApiServer real = RealApiServer.shared();
    private final TestNamespace shop = new TestNamespace(real);
    private final KubernetesClient client = real.client();
    private final Set<ObjectKey> keys = IntStream.range(0, 10)
            .mapToObj(i -> ObjectKey.of(shop.name(), "secret-" + i))
            .collect(Collectors.toSet());
    private final Referrer owner =
            Referrer.of(shop.admin().namespaces().withName(shop.name()).get());

    @AfterEach
    void close() {
        client.close();
        shop.close();
    }

    @ParameterizedTest
    @EnumSource
    void ownWrites_areSeenAtOnce_andStaySeen(ChangeDetectionStrategy strategy) {
        create("v0");
        try (Podcache cache = cache().strategy(strategy).build()) {
            Manager<Secret> secrets = registered(cache);
            for (int i = 1; i <= WRITES; i++) {
                String version = update("secret-1", "v" + i).getMetadata().getResourceVersion();
                ReadConsistency consistency = i % 2 == 0 ? ReadConsistency.latest() : ReadConsistency.atLeast(version);

                assertThat(Secrets.value(secrets.getObject(shop.name(), "secret-1", consistency)))
                        .isEqualTo("v" + i);
                assertThat(Secrets.value(secrets.getObject(shop.name(), "secret-1")))
                        .isEqualTo("v" + i);
            }
            shop.admin().resource(Secrets.of(shop.name(), "secret-1", "")).delete();
            assertThat(secrets.findObject(shop.name(), "secret-2")).isPresent();
            assertThat(catchThrowable(() -> secrets.getObject(shop.name(), "secret-1", ReadConsistency.latest())))
                    .isInstanceOf(NotFound.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void severalObjects_andFutures(ChangeDetectionStrategy strategy) {
        create("v0");
        try (Podcache cache = cache().strategy(strategy).build()) {
            Manager<Secret> secrets = registered(cache);
            assertThat(cache.awaitSynced(PATIENCE)).isEmpty();

            assertThat(secrets.getObjects(keys)).hasSize(keys.size());
            assertThat(Secrets.value(
                            secrets.getObjectAsync(shop.name(), "secret-3").join()))
                    .isEqualTo("v0");
            assertThat(cache.entries()).noneMatch(entry -> entry.cacheState() == CacheState.UNREAD);
        }
    }

    @Test
    void overTheBudget_objectsAreReadAgain() {
        create("v0");
        try (Podcache cache = cache().payloadBudget(1_000).build()) {
            Manager<Secret> secrets = registered(cache);
            assertThat(cache.awaitSynced(PATIENCE)).isEmpty();
            update("secret-4", "v1");
            for (int round = 0; round < 3; round++) {
                assertThat(secrets.getObjects(keys)).hasSize(keys.size());
            }

            assertThat(Secrets.value(secrets.getObject(shop.name(), "secret-4")))
                    .isEqualTo("v1");
            // a watch that has received an object tells its readers before it makes room
            await().untilAsserted(() -> assertThat(cache.stats().bytes()).isLessThanOrEqualTo(1_000));
            assertThat(cache.stats().evictions()).isPositive();
        }
    }

    @Test
    void polledAndUnfollowedObjects_haveNoWatch() {
        create("v0");
        try (Podcache cache = cache().poll(key -> key.name().equals("secret-1"))
                .watchOnly(Usage.VOLUME)
                .build()) {
            cache.register(
                    owner,
                    Set.of(
                            secret("secret-1").withUsage(Usage.VOLUME),
                            secret("secret-2").withUsage(Usage.ENV),
                            secret("secret-3").withUsage(Usage.VOLUME)));
            assertThat(cache.awaitSynced(PATIENCE)).isEmpty();

            List<ObjectEntry> watched = cache.entries().stream()
                    .filter(entry -> entry.connection().isPresent())
                    .toList();
            assertThat(watched).extracting(entry -> entry.key().name()).containsExactly("secret-3");
        }
    }

    private PodcacheBuilder cache() {
        return Podcache.builder(client).firstSyncTimeout(PATIENCE).readTimeout(PATIENCE);
    }

    private Manager<Secret> registered(Podcache cache) {
        cache.register(
                owner,
                keys.stream().map(key -> ObjectRef.of(ObjectKind.SECRET, key)).collect(Collectors.toSet()));
        return cache.secrets();
    }

    private ObjectRef secret(String name) {
        return ObjectRef.of(ObjectKind.SECRET, shop.name(), name);
    }

    private void create(String value) {
        keys.forEach(key -> shop.admin()
                .resource(Secrets.of(key.namespace(), key.name(), value))
                .create());
    }

    private Secret update(String name, String value) {
        return shop.admin().resource(Secrets.of(shop.name(), name, value)).update();
    }
}
