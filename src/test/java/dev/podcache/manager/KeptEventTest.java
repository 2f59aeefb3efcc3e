package dev.podcache.manager;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.PodKey;
import dev.podcache.object.Referrer;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.WatchObjectStore;
import dev.podcache.store.WatchObjectStore.WatchTimes;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.Slow;
import io.fabric8.kubernetes.api.model.Secret;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A user may keep events: they hold the objects that they tell of, and nothing of the cache. */
@Slow
@ExtendWith(NoLeaks.class)
class KeptEventTest {

    private static final ObjectKey DB = ObjectKey.of("shop", "db");
    private static final Referrer OWNER = PodKey.of("shop", "owner", "uid-owner");

    private final List<ObjectEvent<Secret>> kept = new ArrayList<>();

    @Test
    void keptEvent_cacheIsClosed_cacheIsUnreachable() throws Exception {
        WeakReference<?> store = heardAndClosed();

        assertThat(kept).hasSize(1);
        await().pollInterval(Duration.ofMillis(10)).until(() -> {
            System.gc();
            return store.refersTo(null);
        });
        assertThat(kept.get(0).current()).isPresent();
    }

    /** In a frame of its own, so that no variable of the test holds the store. */
    private WeakReference<?> heardAndClosed() throws Exception {
        ManualTimekeeper timekeeper = new ManualTimekeeper();
        try (FakeApiServer server = new FakeApiServer(timekeeper);
                WatchObjectStore<Secret> store = new WatchObjectStore<>(
                        ObjectKind.SECRET,
                        key -> server.listerWatcher(ObjectKind.SECRET, key.namespace(), "metadata.name=" + key.name()),
                        server.getter(ObjectKind.SECRET),
                        StoreOptions.defaults(timekeeper),
                        WatchTimes.DEFAULT)) {
            Manager<Secret> manager = Managers.caching(store, pod -> Set.of());
            server.cluster().create(Secrets.of(DB, "v1"));
            AutoCloseable listening = manager.listen(Runnable::run, kept::add);
            manager.register(OWNER, Set.of(DB));
            listening.close();
            manager.unregister(OWNER);
            return new WeakReference<>(store);
        }
    }
}
