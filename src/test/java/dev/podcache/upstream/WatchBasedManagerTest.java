package dev.podcache.upstream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.embedded.HeldRequests;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Verb;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.object.PodKey;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.WatchObjectStore;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code pkg/kubelet/util/manager/watch_based_manager_test.go}. */
@ExtendWith(NoLeaks.class)
class WatchBasedManagerTest {

    private static final ObjectKey NAME = ObjectKey.of("default", "name");

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final FakeApiServer server = new FakeApiServer(timekeeper);
    private final WatchObjectStore<Secret> store = new WatchObjectStore<>(
            ObjectKind.SECRET,
            key -> server.listerWatcher(ObjectKind.SECRET, key.namespace(), "metadata.name=" + key.name()),
            server.getter(ObjectKind.SECRET),
            StoreOptions.defaults(timekeeper),
            new WatchObjectStore.WatchTimes(Duration.ofSeconds(1), Duration.ofMinutes(1)));

    @AfterEach
    void close() {
        store.close();
        server.close();
    }

    /** TestSecretCache: absent, created, updated, deleted, let go. */
    @Test
    void secretCache() {
        store.addReference(NAME, pod("pod"));
        assertThatThrownBy(this::get).isInstanceOf(NotFound.class);
        assertThat(server.count(Verb.LIST)).isEqualTo(1);
        assertThat(server.count(Verb.WATCH)).isEqualTo(1);

        server.cluster().create(Secrets.of(NAME, "1"));
        assertThat(get()).isEqualTo("1");
        server.cluster().update(Secrets.of(NAME, "2"));
        assertThat(get()).isEqualTo("2");
        server.cluster().delete(Secrets.of(NAME, ""));
        assertThatThrownBy(this::get).isInstanceOf(NotFound.class);

        store.deleteReference(NAME, pod("pod"));
        assertThatThrownBy(this::get).isInstanceOf(NotRegistered.class);
        assertThat(server.openWatches()).isZero();
    }

    /**
     * TestSecretCacheMultipleRegistrations: one list and one watch, however often it is
     * referred to beside a reference held.
     */
    @Test
    void secretCacheMultipleRegistrations() {
        store.addReference(NAME, pod("pod"));
        for (int i = 0; i < 20; i++) {
            store.addReference(NAME, pod("pod" + i));
            store.deleteReference(NAME, pod("pod" + i));
        }
        assertThat(server.count(Verb.LIST)).isEqualTo(1);
        assertThat(server.count(Verb.WATCH)).isEqualTo(1);

        store.deleteReference(NAME, pod("pod"));
        assertThatThrownBy(this::get).isInstanceOf(NotRegistered.class);
        assertThat(server.openWatches()).isZero();
    }

    /**
     * TestImmutableSecretStopsTheReflector: what is there at first, what it becomes, and whether the watch ends for it.
     */
    @ParameterizedTest
    @CsvSource({
        "none,      immutable, false, true",
        "mutable,   immutable, false, true",
        "immutable, none,      true,  true",
        "none,      mutable,   false, false",
        "mutable,   none,      false, false"
    })
    void immutableSecretStopsTheReflector(String first, String then, boolean endsAtFirst, boolean endsThen) {
        put(first);
        store.addReference(NAME, pod("pod"));
        assertThat(server.openWatches()).isEqualTo(endsAtFirst ? 0 : 1);
        put(then);
        assertThat(server.openWatches()).isEqualTo(endsThen ? 0 : 1);
    }

    /**
     * TestMaxIdleTimeStopsTheReflector: read every 20 s it stays; not read, it ends with a maximum of 60 s after 90 s.
     */
    @Test
    void maxIdleTimeStopsTheReflector() {
        server.cluster().create(Secrets.of(NAME, "1"));
        store.addReference(NAME, pod("pod"));
        get();
        timekeeper.advance(Duration.ofSeconds(90));
        assertThat(server.openWatches()).isZero();

        get();
        assertThat(server.openWatches()).isEqualTo(1);
        for (int i = 0; i < 10; i++) {
            timekeeper.advance(Duration.ofSeconds(20));
            get();
            assertThat(server.openWatches()).isEqualTo(1);
        }
        timekeeper.advance(Duration.ofSeconds(120));
        assertThat(server.openWatches()).isZero();
    }

    /** TestReflectorNotStoppedOnSlowInitialization. */
    @Test
    void reflectorNotStoppedOnSlowInitialization() {
        server.cluster().create(Secrets.of(NAME, "1"));
        server.faults().delay(Duration.ofSeconds(25), RequestPattern.any().verb(Verb.LIST));
        HeldRequests held = server.faults().hold(RequestPattern.any().verb(Verb.WATCH));
        store.addReference(NAME, pod("pod"));
        timekeeper.advance(Duration.ofSeconds(300));
        held.release();

        assertThat(get()).isEqualTo("1");
        assertThat(server.openWatches()).isEqualTo(1);
    }

    /** TestRefMapHandlesReferencesCorrectly: counted for each referrer, and never below zero. */
    @Test
    void refMapHandlesReferencesCorrectly() {
        store.addReference(NAME, pod("a"));
        store.addReference(NAME, pod("a"));
        store.addReference(NAME, pod("b"));
        assertThat(references()).isEqualTo(3);
        store.deleteReference(NAME, pod("a"));
        assertThat(references()).isEqualTo(2);
        store.deleteReference(NAME, pod("c"));
        store.deleteReference(NAME, pod("b"));
        store.deleteReference(NAME, pod("b"));
        assertThat(references()).isEqualTo(1);
        store.deleteReference(NAME, pod("a"));
        assertThat(references()).isZero();
        assertThat(store.size()).isZero();
    }

    private void put(String what) {
        boolean exists = !server.cluster()
                .list(
                        dev.podcache.embedded.Resource.of(Secret.class),
                        dev.podcache.embedded.Selection.everything().in("default"),
                        "")
                .items()
                .isEmpty();
        if (what.equals("none")) {
            if (exists) {
                server.cluster().delete(Secrets.of(NAME, ""));
            }
            return;
        }
        Secret secret = what.equals("immutable") ? Secrets.immutable(NAME, "1") : Secrets.of(NAME, "1");
        if (exists) {
            server.cluster().update(secret);
        } else {
            server.cluster().create(secret);
        }
    }

    private int references() {
        return store.state(NAME).references();
    }

    private String get() {
        return Secrets.value(store.get(NAME.namespace(), NAME.name()));
    }

    private static PodKey pod(String uid) {
        return PodKey.of("default", "pod", uid);
    }
}
