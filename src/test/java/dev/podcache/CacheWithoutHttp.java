package dev.podcache;

import com.google.common.io.Closer;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.manager.Managers;
import dev.podcache.object.ObjectKind;
import dev.podcache.store.ObjectTtlSource;
import dev.podcache.store.Store;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.TtlObjectStore;
import dev.podcache.store.WatchObjectStore;
import dev.podcache.store.WatchObjectStore.WatchTimes;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ManualTimekeeper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;

/** Makes a cache as the builder does, but of ports without HTTP, and with time that is driven by hand. */
final class CacheWithoutHttp {

    private record AnHour(long ttlNanos) implements ObjectTtlSource {
        @Override
        public String origin() {
            return "set by the test";
        }
    }

    private CacheWithoutHttp() {}

    /**
     * Returns one.
     *
     * @param strategy CACHE, with a TTL of an hour, or WATCH
     */
    static Podcache of(ChangeDetectionStrategy strategy, FakeApiServer server, ManualTimekeeper timekeeper) {
        Closer parts = Closer.create();
        Managers.Stores stores = new Managers.Stores() {
            @Override
            public <T extends HasMetadata> Store<T> storeOf(ObjectKind<T> kind) {
                return store(strategy, server, timekeeper, kind, parts);
            }

            @Override
            public boolean countsReferences(ObjectKind<?> kind) {
                return true;
            }
        };
        return new Podcache(new Managers(stores), timekeeper, parts);
    }

    private static <T extends HasMetadata> Store<T> store(
            ChangeDetectionStrategy strategy,
            FakeApiServer server,
            ManualTimekeeper timekeeper,
            ObjectKind<T> kind,
            Closer parts) {
        StoreOptions options = StoreOptions.defaults(timekeeper);
        if (strategy == ChangeDetectionStrategy.CACHE) {
            TtlObjectStore<T> ttl = new TtlObjectStore<>(
                    kind, server.getter(kind), new AnHour(Duration.ofHours(1).toNanos()), options);
            parts.register(ttl::close);
            return ttl;
        }
        WatchObjectStore<T> watch = new WatchObjectStore<>(
                kind,
                key -> server.listerWatcher(kind, key.namespace(), "metadata.name=" + key.name()),
                server.getter(kind),
                options,
                WatchTimes.DEFAULT);
        parts.register(watch::close);
        return watch;
    }
}
