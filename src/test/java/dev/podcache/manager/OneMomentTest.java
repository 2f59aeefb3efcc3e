package dev.podcache.manager;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.metrics.CountedEvents;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.PodKey;
import dev.podcache.object.Referrer;
import dev.podcache.store.DirectObjectStore;
import dev.podcache.store.Store;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.TtlObjectStore;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.FixedTtl;
import dev.podcache.testing.ForwardingTimekeeper;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What is told of one object was all true at one moment, though the object changes while it is read. */
@ExtendWith(NoLeaks.class)
class OneMomentTest {

    private static final ObjectKey DB = ObjectKey.of("shop", "db");
    private static final Referrer OWNER = PodKey.of("shop", "owner", "uid-owner");

    private final ManualTimekeeper manual = new ManualTimekeeper();
    private final FakeApiServer server = new FakeApiServer(manual);
    private final InterruptedReads timekeeper = new InterruptedReads(manual);
    private final TtlObjectStore<Secret> secrets = new TtlObjectStore<>(
            ObjectKind.SECRET,
            server.getter(ObjectKind.SECRET),
            FixedTtl.ofSeconds(60),
            StoreOptions.defaults(timekeeper));
    private final Managers managers = new Managers(
            new Managers.Stores() {
                @Override
                @SuppressWarnings("unchecked") // the store of Secrets is for Secrets
                public <T extends HasMetadata> Store<T> storeOf(ObjectKind<T> kind) {
                    return countsReferences(kind)
                            ? (Store<T>) secrets
                            : new DirectObjectStore<>(kind, server.getter(kind), StoreOptions.defaults(timekeeper));
                }

                @Override
                public boolean countsReferences(ObjectKind<?> kind) {
                    return kind.equals(ObjectKind.SECRET);
                }
            },
            new CountedEvents(PodcacheMetrics.NONE),
            false,
            Set.of());

    /** Runs something when the time is asked for next, as another thread might at that moment. */
    private static final class InterruptedReads extends ForwardingTimekeeper {

        private @Nullable Runnable meanwhile;

        InterruptedReads(ManualTimekeeper time) {
            super(time);
        }

        @Override
        public long nanoTime() {
            Runnable change = meanwhile;
            meanwhile = null;
            if (change != null) {
                change.run();
            }
            return super.nanoTime();
        }
    }

    @BeforeEach
    void register() {
        server.cluster().create(Secrets.of(DB, "short"));
        managers.register(OWNER, Set.of(ObjectRef.of(ObjectKind.SECRET, "shop", "db")));
        Secret unused = secrets.get(DB);
    }

    @AfterEach
    void close() {
        secrets.close();
        server.close();
    }

    @Test
    void entries_objectIsUpdatedMeanwhile_sizeIsThatOfTheVersion() {
        ObjectEntry before = entry();
        timekeeper.meanwhile = this::update;
        ObjectEntry between = entry();
        ObjectEntry after = entry();

        assertThat(after.bytes()).isGreaterThan(before.bytes());
        assertThat(after.resourceVersion()).isNotEqualTo(before.resourceVersion());
        assertThat(sizeAndVersion(between)).isIn(sizeAndVersion(before), sizeAndVersion(after));
    }

    @Test
    void stats_objectIsReleasedMeanwhile_allOfItIsCountedOrNothing() {
        timekeeper.meanwhile = () -> managers.unregister(OWNER);
        CacheStats stats = managers.stats();

        assertThat(stats.references()).isEqualTo(stats.size());
        assertThat(stats.bytes() > 0).isEqualTo(stats.size() > 0);
    }

    private void update() {
        server.cluster().update(Secrets.of(DB, "much longer than before"));
        manual.advance(Duration.ofMinutes(2));
        Secret unused = secrets.get(DB);
    }

    private ObjectEntry entry() {
        return managers.entries().get(0);
    }

    private static String sizeAndVersion(ObjectEntry entry) {
        return entry.bytes() + " bytes at " + entry.resourceVersion();
    }
}
