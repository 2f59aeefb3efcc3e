package dev.podcache.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.podcache.embedded.HeldRequests;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Verb;
import dev.podcache.metrics.CountedEvents;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.CacheState;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.PodKey;
import dev.podcache.object.Referrer;
import dev.podcache.object.Usage;
import dev.podcache.store.Store;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.WatchObjectStore;
import dev.podcache.store.WatchObjectStore.WatchTimes;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Objects that nobody follows are read once for each new reference, and not watched. */
@ExtendWith(NoLeaks.class)
class WatchOnlyTest {

    private static final ObjectKey KEY = ObjectKey.of("shop", "db");
    private static final ObjectRef DB = ObjectRef.of(ObjectKind.SECRET, KEY);
    private static final Referrer OWNER = PodKey.of("shop", "web", "uid-web");
    private static final Referrer OTHER = PodKey.of("shop", "mail", "uid-mail");

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final FakeApiServer server = new FakeApiServer(timekeeper);
    private final Managers managers = new Managers(
            new Managers.Stores() {
                @Override
                public <T extends HasMetadata> Store<T> storeOf(ObjectKind<T> kind) {
                    return new WatchObjectStore<>(
                            kind,
                            key -> server.listerWatcher(kind, key.namespace(), "metadata.name=" + key.name()),
                            server.getter(kind),
                            StoreOptions.defaults(timekeeper),
                            WatchTimes.DEFAULT);
                }

                @Override
                public boolean countsReferences(ObjectKind<?> kind) {
                    return true;
                }
            },
            new CountedEvents(PodcacheMetrics.NONE),
            false,
            Set.of(Usage.VOLUME, Usage.PULL));
    private final Manager<Secret> secrets = managers.of(ObjectKind.SECRET);

    @Test
    void environmentOnly_isReadOnce_untilANewReference() {
        server.cluster().create(Secrets.of(KEY, "v1"));
        register(OWNER, DB.withUsage(Usage.ENV));
        assertThat(get()).isEqualTo("v1");
        assertThat(server.openWatches()).isZero();

        server.cluster().update(Secrets.of(KEY, "v2"));
        assertThat(get()).isEqualTo("v1");
        assertThat(secrets.state("shop", "db").cacheState()).isEqualTo(CacheState.FRESH);
        assertThat(secrets.state("shop", "db").freshness()).contains("read once");
        register(OTHER, DB.withUsage(Usage.ENV));
        assertThat(get()).isEqualTo("v2");
        assertThat(server.count(Verb.LIST)).isEqualTo(2);
        assertThat(server.count(Verb.WATCH)).isZero();
    }

    @Test
    void referenceThatComesWhileTheObjectIsListed_isNotAnsweredByThatList() {
        server.cluster().create(Secrets.of(KEY, "v1"));
        HeldRequests list = server.faults().holdNext(1, RequestPattern.any().verb(Verb.LIST));
        register(OWNER, DB.withUsage(Usage.ENV));
        server.cluster().update(Secrets.of(KEY, "v2"));
        register(OTHER, DB.withUsage(Usage.ENV));
        list.release();

        assertThat(get()).isEqualTo("v2");
        assertThat(server.openWatches()).isZero();
        assertThat(server.count(Verb.LIST)).isEqualTo(2);
    }

    @Test
    void followedToo_isWatched() {
        server.cluster().create(Secrets.of(KEY, "v1"));
        register(OWNER, DB.withUsage(Usage.ENV), DB.withUsage(Usage.VOLUME));
        assertThat(get()).isEqualTo("v1");
        server.cluster().update(Secrets.of(KEY, "v2"));

        assertThat(get()).isEqualTo("v2");
        assertThat(server.openWatches()).isOne();
    }

    @Test
    void usageThatIsNotSaid_isWatched() {
        server.cluster().create(Secrets.of(KEY, "v1"));
        register(OWNER, DB);
        assertThat(get()).isEqualTo("v1");

        assertThat(server.openWatches()).isOne();
    }

    @Test
    void usageThatOneNeedSaysAndAnotherDoesNot_isWatched() {
        server.cluster().create(Secrets.of(KEY, "v1"));
        register(OWNER, DB, DB.withUsage(Usage.ENV));
        assertThat(get()).isEqualTo("v1");
        server.cluster().update(Secrets.of(KEY, "v2"));

        assertThat(get()).isEqualTo("v2");
        assertThat(server.openWatches()).isOne();
        assertThat(managers.entries().get(0).usages(OWNER)).containsExactly(Usage.ENV);
    }

    @Test
    void ownerThatNeedsItWithAndWithoutAUsage_holdsOneReference_andReleasesIt() {
        server.cluster().create(Secrets.of(KEY, "v1"));
        register(OWNER, DB, DB.withUsage(Usage.ENV));
        get();
        register(OWNER, DB.withUsage(Usage.ENV));
        assertThat(secrets.state("shop", "db").references()).isOne();
        register(OTHER, DB, DB.withUsage(Usage.ENV));
        managers.unregister(OTHER);
        managers.unregister(OWNER);

        assertThat(managers.entries()).isEmpty();
        assertThat(server.openWatches()).isZero();
    }

    @Test
    void ownerThatBeginsToFollow_hasItWatched_andMayEndIt() {
        server.cluster().create(Secrets.of(KEY, "v1"));
        register(OWNER, DB.withUsage(Usage.ENV));
        get();
        server.cluster().update(Secrets.of(KEY, "v2"));
        register(OWNER, DB.withUsage(Usage.ENV), DB.withUsage(Usage.VOLUME));
        assertThat(get()).isEqualTo("v2");
        assertThat(server.openWatches()).isOne();
        assertThat(secrets.state("shop", "db").references()).isOne();

        register(OWNER, DB.withUsage(Usage.ENV));
        assertThat(secrets.state("shop", "db").references()).isOne();
        managers.unregister(OWNER);
        assertThat(managers.entries()).isEmpty();
        assertThat(server.openWatches()).isZero();
    }

    @Test
    void referrersAndUsages_areThoseThatRegistered() {
        server.cluster().create(Secrets.of(KEY, "v1"));
        register(OWNER, DB.withUsage(Usage.ENV));
        register(OTHER, DB.withUsage(Usage.VOLUME));

        ObjectEntry entry = managers.entries().get(0);
        assertThat(entry.referrers()).containsExactlyInAnyOrder(OWNER, OTHER);
        assertThat(entry.usages(OWNER)).containsExactly(Usage.ENV);
        assertThat(entry.usages(OTHER)).containsExactly(Usage.VOLUME);
    }

    @Test
    void objectThatDoesNotExist_isWatchedUntilItDoes() {
        register(OWNER, DB.withUsage(Usage.ENV));
        assertThatExceptionOfType(NotFound.class).isThrownBy(this::get);
        assertThat(server.openWatches()).isOne();
        server.cluster().create(Secrets.of(KEY, "v1"));

        assertThat(get()).isEqualTo("v1");
        assertThat(server.openWatches()).isZero();
    }

    @Test
    void objectThatDoesNotExist_forTwo_isReadOnceMoreWhenItDoes() {
        register(OWNER, DB.withUsage(Usage.ENV));
        assertThatExceptionOfType(NotFound.class).isThrownBy(this::get);
        register(OTHER, DB.withUsage(Usage.ENV));
        server.cluster().create(Secrets.of(KEY, "v1"));

        assertThat(get()).isEqualTo("v1");
        assertThat(server.openWatches()).isZero();
        assertThat(server.count(Verb.LIST)).isEqualTo(2);
    }

    /** What a watch brings may have happened before the reference, and no event would follow. */
    @Test
    void objectThatNobodyFollowsAnyMore_isReadOnceMoreAfterAnEvent() {
        server.cluster().create(Secrets.of(KEY, "v1"));
        register(OWNER, DB.withUsage(Usage.VOLUME));
        assertThat(get()).isEqualTo("v1");
        register(OTHER, DB.withUsage(Usage.ENV));
        managers.unregister(OWNER);
        server.cluster().update(Secrets.of(KEY, "v2"));

        assertThat(get()).isEqualTo("v2");
        assertThat(server.openWatches()).isZero();
        assertThat(server.count(Verb.LIST)).isEqualTo(2);
    }

    private void register(Referrer owner, ObjectRef... objects) {
        managers.register(owner, Set.of(objects));
    }

    private String get() {
        return Secrets.value(secrets.getObject("shop", "db"));
    }
}
