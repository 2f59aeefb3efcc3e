package dev.podcache.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.ObjectUnavailableException.FetchFailed;
import dev.podcache.object.PodKey;
import dev.podcache.object.Referrer;
import dev.podcache.store.Store;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.TtlObjectStore;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.FixedTtl;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Reads of several objects: those that are asked for, and all that are registered. */
@ExtendWith(NoLeaks.class)
class FirstReadsTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final ObjectKey MISSING = ObjectKey.of("shop", "missing");

    private final ManualTimekeeper timekeeper = ManualTimekeeper.passingWhileWaiting();
    private final FakeApiServer server = new FakeApiServer(timekeeper);
    private final Referrer owner = PodKey.of("shop", "owner", "uid-owner");
    private final Managers managers = new Managers(new Managers.Stores() {
        @Override
        public <T extends HasMetadata> Store<T> storeOf(ObjectKind<T> kind) {
            return new TtlObjectStore<>(
                    kind, server.getter(kind), FixedTtl.ofSeconds(60), StoreOptions.defaults(timekeeper));
        }

        @Override
        public boolean countsReferences(ObjectKind<?> kind) {
            return true;
        }
    });
    private final Manager<Secret> secrets = managers.of(ObjectKind.SECRET);
    private final Set<ObjectKey> keys = IntStream.range(0, 3)
            .mapToObj(i -> ObjectKey.of("shop", "secret-" + i))
            .collect(Collectors.toCollection(LinkedHashSet::new));

    @Test
    void getObjects_returnsThoseThatExist_inOrder() {
        createAndRegister();
        managers.of(ObjectKind.SECRET).register(owner, withMissing());

        Map<ObjectKey, Secret> found = secrets.getObjects(withMissing());

        assertThat(found.keySet()).containsExactlyElementsOf(keys);
        assertThat(found.values())
                .allSatisfy(secret -> assertThat(Secrets.value(secret)).isEqualTo("v1"));
    }

    @Test
    void getObjects_oneFails_isItsFailure() {
        createAndRegister();
        server.failNext(1, refused());

        assertThatExceptionOfType(FetchFailed.class).isThrownBy(() -> secrets.getObjects(keys));
    }

    @Test
    @SuppressWarnings("NullAway")
    void getObjects_null_isRefusedByName() {
        assertThatNullPointerException()
                .isThrownBy(() -> secrets.getObjects(null))
                .withMessage("keys");
    }

    @Test
    void getObjects_none_isEmpty() {
        assertThat(secrets.getObjects(Set.of())).isEmpty();
    }

    @Test
    void awaitSynced_readsWhatWasNotRead_andSaysThatAllWere() {
        createAndRegister();
        secrets.register(owner, withMissing());

        assertThat(managers.awaitSynced(TIMEOUT, timekeeper)).isEmpty();
        assertThat(managers.entries()).noneMatch(entry -> entry.cacheState() == CacheState.UNREAD);
        int gets = server.actions().size();
        assertThat(managers.awaitSynced(TIMEOUT, timekeeper)).isEmpty();
        assertThat(server.actions())
                .as("what is known to be missing is asked for once")
                .hasSize(gets);
    }

    @Test
    void awaitSynced_failures_areRetriedUntilTheTimeout_andTold() {
        createAndRegister();
        server.failNext(4, refused());
        assertThat(managers.awaitSynced(TIMEOUT, timekeeper)).isEmpty();

        secrets.unregister(owner);
        secrets.register(owner, keys);
        server.failNext(Integer.MAX_VALUE, refused());
        long begin = timekeeper.nanoTime();
        List<ObjectEntry> unread = managers.awaitSynced(TIMEOUT, timekeeper);

        assertThat(unread).extracting(ObjectEntry::key).containsExactlyInAnyOrderElementsOf(keys);
        assertThat(unread.get(0).lastFailure()).isPresent();
        assertThat(Duration.ofNanos(timekeeper.nanoTime() - begin)).isBetween(TIMEOUT, TIMEOUT.multipliedBy(2));
    }

    @Test
    void awaitSynced_nameThatIsNotLegal_isToldAtOnce() {
        secrets.register(owner, Set.of(ObjectKey.of("shop", "Not_Legal")));

        assertThat(managers.awaitSynced(TIMEOUT, timekeeper)).hasSize(1);
        assertThat(timekeeper.nanoTime()).isZero();
    }

    @Test
    void awaitSynced_interrupted_returnsWithTheStatusSet() {
        createAndRegister();
        Thread.currentThread().interrupt();

        assertThat(managers.awaitSynced(TIMEOUT, timekeeper)).hasSizeLessThanOrEqualTo(3);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void ownerThatHoldsNothing_isNotRemembered() {
        Registrations registrations = new Registrations(Set.of());
        TtlObjectStore<Secret> store = new TtlObjectStore<>(
                ObjectKind.SECRET,
                server.getter(ObjectKind.SECRET),
                FixedTtl.ofSeconds(60),
                StoreOptions.defaults(timekeeper));
        Manager<Secret> manager =
                new StoreManager<>(registrations, store, ObjectKey::of, pod -> Registrations.ObjectNeeds.NONE);
        manager.register(owner, Set.of());
        assertThat(registrations.size()).isZero();
        manager.register(owner, keys);
        assertThat(registrations.size()).isOne();
        manager.register(owner, Set.of());
        assertThat(registrations.size()).isZero();

        store.close();
        assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> manager.register(owner, keys));
        assertThat(registrations.size()).as("a refused registration").isZero();
    }

    private void createAndRegister() {
        keys.forEach(key -> server.cluster().create(Secrets.of(key, "v1")));
        managers.register(
                owner,
                keys.stream().map(key -> ObjectRef.of(ObjectKind.SECRET, key)).collect(Collectors.toSet()));
    }

    private Set<ObjectKey> withMissing() {
        Set<ObjectKey> all = new LinkedHashSet<>(keys);
        all.add(MISSING);
        return all;
    }

    private static ApiServerException refused() {
        return new ApiServerException(FailureReason.REJECTED, 400, null, "GET was answered 400", null);
    }
}
