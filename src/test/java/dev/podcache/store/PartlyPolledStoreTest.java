package dev.podcache.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.podcache.embedded.Verb;
import dev.podcache.object.CacheState;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.object.PodKey;
import dev.podcache.object.ReadConsistency;
import dev.podcache.object.Referrer;
import dev.podcache.store.WatchObjectStore.WatchTimes;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.FixedTtl;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class PartlyPolledStoreTest {

    private static final ObjectKey OWN = ObjectKey.of("shop", "db");
    private static final ObjectKey SHARED = ObjectKey.of("shop", "shared");
    private static final Referrer OWNER = PodKey.of("shop", "web", "uid-web");

    private final AtomicBoolean broken = new AtomicBoolean();
    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final FakeApiServer server = new FakeApiServer(timekeeper);
    private final StoreOptions options = StoreOptions.defaults(timekeeper);
    private final PartlyPolledStore<Secret> store = new PartlyPolledStore<>(
            new WatchObjectStore<>(
                    ObjectKind.SECRET,
                    key -> server.listerWatcher(ObjectKind.SECRET, key.namespace(), "metadata.name=" + key.name()),
                    server.getter(ObjectKind.SECRET),
                    options,
                    WatchTimes.DEFAULT),
            new TtlObjectStore<>(ObjectKind.SECRET, server.getter(ObjectKind.SECRET), FixedTtl.ofSeconds(60), options),
            key -> {
                if (broken.get()) {
                    throw new IllegalStateException("broken predicate");
                }
                return key.name().equals("shared");
            });

    @AfterEach
    void close() {
        store.close();
        assertThat(timekeeper.scheduledTasks()).as("timers").isZero();
        assertThat(server.openWatches()).isZero();
    }

    @Test
    void sharedObject_isPolled_othersAreWatched() {
        referTo(OWN, SHARED);
        assertThat(get(OWN)).isEqualTo("v1");
        assertThat(get(SHARED)).isEqualTo("v1");
        assertThat(server.openWatches()).isOne();
        assertThat(server.gets(SHARED)).isOne();

        server.cluster().update(Secrets.of(OWN, "v2"));
        server.cluster().update(Secrets.of(SHARED, "v2"));
        assertThat(get(OWN)).isEqualTo("v2");
        assertThat(get(SHARED)).isEqualTo("v1");
        timekeeper.advance(Duration.ofSeconds(61));
        assertThat(get(SHARED)).isEqualTo("v2");
        assertThat(server.count(Verb.GET)).isEqualTo(2);
    }

    @Test
    void whatIsAsked_isAskedOfTheStoreThatHoldsTheObject() {
        referTo(OWN, SHARED);
        List<ObjectKey> changed = new ArrayList<>();
        Runnable end = store.observe(changed::add);
        get(OWN);
        get(SHARED);

        assertThat(store.keys()).containsExactlyInAnyOrder(OWN, SHARED);
        assertThat(changed).contains(SHARED);
        assertThat(store.state(OWN).cacheState()).isEqualTo(CacheState.FRESH);
        assertThat(store.state(SHARED).freshness()).contains("TTL");
        assertThat(store.known(SHARED)).isNotNull();
        assertThat(store.getAsync("shop", "shared")).isCompleted();
        assertThat(store.getAsync("shop", "db")).isCompleted();
        assertThat(store.changes().updates()).isEqualTo(2);
        server.cluster().update(Secrets.of(SHARED, "v2"));
        assertThat(Secrets.value(store.get("shop", "shared", ReadConsistency.latest())))
                .isEqualTo("v2");
        end.run();
        changed.clear();
        server.cluster().update(Secrets.of(OWN, "v2"));
        assertThat(changed).isEmpty();
    }

    @Test
    void predicateThatThrows_failsNewReferencesOnly() {
        referTo(OWN, SHARED);
        broken.set(true);
        assertThat(get(OWN)).isEqualTo("v1");
        assertThat(get(SHARED)).isEqualTo("v1");
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> store.addReference(ObjectKey.of("shop", "new"), OWNER));

        store.deleteReference(OWN, OWNER);
        store.deleteReference(SHARED, OWNER);
        assertThat(store.keys()).isEmpty();
    }

    @Test
    void lastReferenceGone_isDropped() {
        referTo(OWN, SHARED);
        get(SHARED);
        store.deleteReference(OWN, OWNER);
        store.deleteReference(SHARED, OWNER);

        assertThat(store.keys()).isEmpty();
        assertThatExceptionOfType(NotRegistered.class).isThrownBy(() -> get(SHARED));
        assertThatExceptionOfType(NotRegistered.class).isThrownBy(() -> get(OWN));
    }

    private void referTo(ObjectKey... keys) {
        for (ObjectKey key : keys) {
            server.cluster().create(Secrets.of(key, "v1"));
            store.addReference(key, OWNER);
        }
    }

    private String get(ObjectKey key) {
        return Secrets.value(store.get(key.namespace(), key.name()));
    }
}
