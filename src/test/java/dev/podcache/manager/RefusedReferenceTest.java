package dev.podcache.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.collect.ImmutableSet;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.PodKey;
import dev.podcache.object.Referrer;
import dev.podcache.store.PartlyPolledStore;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.TtlObjectStore;
import dev.podcache.store.WatchObjectStore;
import dev.podcache.store.WatchObjectStore.WatchTimes;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.FixedTtl;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A store that refuses a reference leaves the registration as it was. It refuses one because the predicate of the user, which
 * chooses the strategy of an object, throws.
 */
@ExtendWith(NoLeaks.class)
class RefusedReferenceTest {

    private static final Referrer OWNER = PodKey.of("shop", "web", "uid-1");
    private static final ObjectKey OLD = ObjectKey.of("shop", "old");
    private static final ObjectKey KEPT = ObjectKey.of("shop", "kept");
    private static final ObjectKey FIRST = ObjectKey.of("shop", "first");
    private static final ObjectKey REFUSED = ObjectKey.of("shop", "refused");

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
            this::isPolled);
    private final Manager<Secret> manager = Managers.caching(store, pod -> Set.of());
    private boolean refuses = true;

    /** The store compares owners when one takes back a reference. */
    private static final class BrokenOwner implements Referrer {

        private boolean throwsNext;

        @Override
        public String uid() {
            return "uid-broken";
        }

        @Override
        public boolean equals(@Nullable Object other) {
            if (throwsNext) {
                throwsNext = false;
                throw new IllegalStateException("broken owner");
            }
            return this == other;
        }

        @Override
        public int hashCode() {
            return 1;
        }
    }

    private boolean isPolled(ObjectKey key) {
        if (refuses && key.equals(REFUSED)) {
            throw new IllegalStateException("refused");
        }
        return true;
    }

    @AfterEach
    void close() {
        store.close();
        server.close();
    }

    @Test
    void register_storeRefusesOne_holdsWhatItHeldBefore() {
        manager.register(OWNER, ImmutableSet.of(OLD, KEPT));
        refuse();

        requireReferredToOnce(OLD, KEPT);
    }

    @Test
    void register_againAfterARefusal_countsEachOnce() {
        manager.register(OWNER, ImmutableSet.of(OLD, KEPT));
        refuse();
        refuses = false;
        manager.register(OWNER, ImmutableSet.of(KEPT, FIRST, REFUSED));

        requireReferredToOnce(KEPT, FIRST, REFUSED);
    }

    @Test
    void unregister_afterARefusal_leavesNothing() {
        refuse();
        manager.unregister(OWNER);

        requireReferredToOnce();
    }

    @Test
    void unregister_storeThrowsForOne_releasesTheOthers() {
        BrokenOwner owner = new BrokenOwner();
        manager.register(owner, ImmutableSet.of(OLD, KEPT, FIRST));
        owner.throwsNext = true;
        assertThatThrownBy(() -> manager.unregister(owner)).hasMessage("broken owner");

        requireReferredToOnce(OLD);
    }

    @Test
    void register_storeThrowsForOneOfBefore_releasesTheOthers() {
        BrokenOwner owner = new BrokenOwner();
        manager.register(owner, ImmutableSet.of(OLD, KEPT));
        owner.throwsNext = true;
        assertThatThrownBy(() -> manager.register(owner, ImmutableSet.of(FIRST)))
                .hasMessage("broken owner");

        requireReferredToOnce(OLD, FIRST);
    }

    private void requireReferredToOnce(ObjectKey... objects) {
        assertThat(store.keys()).containsExactlyInAnyOrder(objects);
        assertThat(objects)
                .allSatisfy(key -> assertThat(store.state(key).references()).isOne());
    }

    private void refuse() {
        assertThatThrownBy(() -> manager.register(OWNER, ImmutableSet.of(KEPT, FIRST, REFUSED)))
                .hasMessage("refused");
    }
}
