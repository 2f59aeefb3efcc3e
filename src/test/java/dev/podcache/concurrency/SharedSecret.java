package dev.podcache.concurrency;

import com.google.common.collect.ImmutableList;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.store.ObjectTtlSource;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.TtlObjectStore;
import dev.podcache.store.WatchObjectStore;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/** The one object that the checkers' threads contend for. */
final class SharedSecret {

    static final ObjectKey KEY = ObjectKey.of("default", "a");

    private SharedSecret() {}

    private record Constant(long ttlNanos, String origin) implements ObjectTtlSource {}

    /** A store whose server has version {@code version} of the object, and answers on the thread that asks. */
    static TtlObjectStore<Secret> ttlStore(long ttlNanos, IntSupplier version) {
        return new TtlObjectStore<>(
                ObjectKind.SECRET,
                (key, freshness, timeout) -> {
                    String now = Integer.toString(version.getAsInt());
                    return CompletableFuture.completedFuture(new Fetched<>(Secrets.of(KEY, now), now, 10));
                },
                new Constant(ttlNanos, "set by the test"),
                StoreOptions.defaults(new ManualTimekeeper()));
    }

    /** A server that tells its watch of each version, on the thread that writes it, before the write is over. */
    static final class Watched implements ListerWatcher<Secret> {

        private int version = 1; // guarded by this
        private @Nullable Consumer<WatchEvent<Secret>> watcher; // guarded by this

        WatchObjectStore<Secret> store() {
            return new WatchObjectStore<>(
                    ObjectKind.SECRET,
                    key -> this,
                    (key, freshness, timeout) -> CompletableFuture.completedFuture(fetched()),
                    StoreOptions.defaults(new ManualTimekeeper()),
                    WatchObjectStore.WatchTimes.DEFAULT);
        }

        /** The version written. One at a time, so that they are told in order. */
        synchronized int write() {
            version++;
            if (watcher != null) {
                watcher.accept(new WatchEvent.Upserted<>(fetched()));
            }
            return version;
        }

        @Override
        public CompletableFuture<Listed<Secret>> list(Duration timeout) {
            Fetched<Secret> now = fetched();
            return CompletableFuture.completedFuture(new Listed<>(ImmutableList.of(now), now.resourceVersion()));
        }

        @Override
        public WatchHandle watch(String from, Duration serverTimeout, Consumer<WatchEvent<Secret>> events) {
            synchronized (this) {
                watcher = events;
            }
            events.accept(new WatchEvent.Opened<>());
            return () -> stop(events);
        }

        private synchronized void stop(Consumer<WatchEvent<Secret>> events) {
            if (watcher == events) {
                watcher = null;
            }
        }

        private synchronized Fetched<Secret> fetched() {
            String now = Integer.toString(version);
            return new Fetched<>(Secrets.of(KEY, now), now, 10);
        }
    }
}
