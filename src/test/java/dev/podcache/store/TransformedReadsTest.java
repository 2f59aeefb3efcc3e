package dev.podcache.store;

import static dev.podcache.store.StoreFixture.DB;
import static dev.podcache.store.TtlFixture.POD;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.apiserver.Transform;
import dev.podcache.embedded.Verb;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException;
import dev.podcache.object.ObjectUnavailableException.FetchFailed;
import dev.podcache.object.ObjectUnavailableException.NotSynced;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.FixedTtl;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A {@link Transform} under each strategy. */
@ExtendWith(NoLeaks.class)
class TransformedReadsTest {

    private final ManualTimekeeper time = ManualTimekeeper.passingWhileWaiting();
    private final FakeApiServer server = new FakeApiServer(time);
    private UnaryOperator<Secret> function = UnaryOperator.identity();
    private final Transform<Secret> transform = new Transform<>(ObjectKind.SECRET, secret -> function.apply(secret));
    private int calls;

    enum Kept {
        WATCH,
        CACHE,
        GET
    }

    @BeforeEach
    void allowWarnings(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
    }

    @AfterEach
    void close() {
        server.close();
    }

    private Store<Secret> store(Kept kept) {
        ObjectGetter<Secret> getter = transform.of(server.getter(ObjectKind.SECRET));
        StoreOptions options = StoreOptions.defaults(time);
        Store<Secret> store = switch (kept) {
            case WATCH ->
                new WatchObjectStore<>(
                        ObjectKind.SECRET, this::byName, getter, options, WatchObjectStore.WatchTimes.DEFAULT);
            case CACHE -> new TtlObjectStore<>(ObjectKind.SECRET, getter, FixedTtl.ofSeconds(60), options);
            case GET -> new DirectObjectStore<>(ObjectKind.SECRET, getter, options);
        };
        store.addReference(DB, POD);
        return store;
    }

    private ListerWatcher<Secret> byName(ObjectKey key) {
        return transform.of(server.listerWatcher(ObjectKind.SECRET, key.namespace(), "metadata.name=" + key.name()));
    }

    private Secret withoutCanary(Secret secret) {
        calls++;
        secret.getData().keySet().retainAll(Set.of("value"));
        return secret;
    }

    private static Secret get(Store<Secret> store) {
        try {
            return store.get(DB.namespace(), DB.name());
        } catch (ObjectUnavailableException e) {
            throw NoLeaks.saw(e);
        }
    }

    @ParameterizedTest
    @EnumSource
    void object_isKeptWithoutWhatTheTransformDrops(Kept kept) {
        function = this::withoutCanary;
        server.cluster().create(Secrets.of(DB, "v1"));
        Store<Secret> store = store(kept);

        assertThat(get(store).getData()).containsOnlyKeys("value");
        assertThat(calls).isEqualTo(1);
        server.cluster().update(Secrets.of(DB, "v2"));
        time.advance(Duration.ofMinutes(2));
        assertThat(get(store).getData()).containsOnlyKeys("value");
        assertThat(Secrets.value(get(store))).isEqualTo("v2");
        assertThat(calls).isEqualTo(kept == Kept.GET ? 3 : 2);
        store.deleteReference(DB, POD);
    }

    static Stream<Map.Entry<String, UnaryOperator<Secret>>> wrong() {
        return Stream.of(
                Map.entry(
                        "the transform threw java.lang.IllegalStateException at "
                                + TransformedReadsTest.class.getName(),
                        secret -> {
                            throw new IllegalStateException(secret.getData().toString());
                        }),
                Map.entry("the transform returned null", TransformedReadsTest::nothing),
                Map.entry("changed the name, the namespace or the resourceVersion", secret -> {
                    secret.getMetadata().setName("other");
                    return secret;
                }),
                Map.entry("changed the name, the namespace or the resourceVersion", secret -> {
                    secret.getMetadata().setNamespace("other");
                    return secret;
                }),
                Map.entry("changed the name, the namespace or the resourceVersion", secret -> {
                    secret.getMetadata().setResourceVersion("1");
                    return secret;
                }),
                Map.entry("changed the name, the namespace or the resourceVersion", secret -> new Secret()));
    }

    @SuppressWarnings("NullAway") // what a user may do
    private static Secret nothing(Secret secret) {
        return null;
    }

    @ParameterizedTest
    @MethodSource("wrong")
    void wrongTransform_failsTheReadAndSaysWhy(Map.Entry<String, UnaryOperator<Secret>> wrong) {
        function = wrong.getValue();
        server.cluster().create(Secrets.of(DB, "v1"));
        for (Kept kept : new Kept[] {Kept.CACHE, Kept.GET}) {
            Store<Secret> store = store(kept);
            assertThatExceptionOfType(FetchFailed.class)
                    .isThrownBy(() -> get(store))
                    .withMessageContaining("reading Secret default/db: ")
                    .withMessageContaining(wrong.getKey())
                    .satisfies(e -> assertThat(e.reason()).isEqualTo(FailureReason.UNREADABLE));
            store.deleteReference(DB, POD);
        }
        Store<Secret> watched = store(Kept.WATCH);
        assertThatExceptionOfType(NotSynced.class)
                .isThrownBy(() -> get(watched))
                .withMessageContaining("reading Secret default/db: ")
                .withMessageContaining(wrong.getKey());
        watched.deleteReference(DB, POD);
    }

    @Test
    void watch_transformThatFailsForAnEvent_servesTheKnownObjectAndRepeatsAfterGrowingPauses() {
        server.cluster().create(Secrets.of(DB, "v1"));
        Store<Secret> store = store(Kept.WATCH);
        get(store);
        function = secret -> {
            throw new IllegalStateException();
        };
        server.cluster().update(Secrets.of(DB, "v2"));
        server.clearActions();
        for (int second = 0; second < 600; second++) {
            time.advance(Duration.ofSeconds(1));
            assertThat(Secrets.value(get(store))).isEqualTo("v1");
        }

        assertThat(store.state(DB).cacheState()).isEqualTo(CacheState.STALE);
        assertThat(server.count(Verb.LIST) + server.count(Verb.WATCH)).isBetween(10, 60);
        function = UnaryOperator.identity();
        time.advance(Duration.ofSeconds(60));
        assertThat(Secrets.value(get(store))).isEqualTo("v2");
        assertThat(store.state(DB).cacheState()).isEqualTo(CacheState.FRESH);
        store.deleteReference(DB, POD);
    }

    @Test
    void otherModelClass_isRefused() {
        ObjectKind<GenericKubernetesResource> generic = ObjectKind.of("v1", "Secret", "secrets", true);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> transform.forKind(generic))
                .withMessageContaining(Secret.class.getName())
                .withMessageContaining(GenericKubernetesResource.class.getName());
    }
}
