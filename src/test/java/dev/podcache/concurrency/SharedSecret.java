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
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The objects that the checkers' threads contend for. Their server answers on threads of its own, so that others can
 * join what is under way, or detach it.
 */
final class SharedSecret {

    static final ObjectKey KEY = ObjectKey.of("default", "a");

    private static final Map<String, Secret> SECRETS = new ConcurrentHashMap<>();

    private static final Executor SERVER = Executors.newFixedThreadPool(2, task -> {
        Thread thread = new Thread(task, "server");
        thread.setDaemon(true);
        return thread;
    });

    private SharedSecret() {}

    private record Constant(long ttlNanos, String origin) implements ObjectTtlSource {}

    /** Another object, which nothing writes. */
    static ObjectKey key(int number) {
        return number == 1 ? KEY : ObjectKey.of("default", "a" + number);
    }

    /** Made once, for making one costs more than all the rest. */
    private static Fetched<Secret> fetched(ObjectKey key, String version) {
        Secret secret = SECRETS.computeIfAbsent(key + "@" + version, first -> Secrets.of(key, version));
        return new Fetched<>(secret, version, 10);
    }

    /** A store whose server has version {@code version} of each object. */
    static TtlObjectStore<Secret> ttlStore(long ttlNanos, IntSupplier version) {
        return new TtlObjectStore<>(
                ObjectKind.SECRET,
                (key, freshness, timeout) -> CompletableFuture.supplyAsync(
                        () -> {
                            String now = Integer.toString(version.getAsInt());
                            return SharedSecret.fetched(key, now);
                        },
                        SERVER),
                new Constant(ttlNanos, "set by the test"),
                StoreOptions.defaults(new ManualTimekeeper()));
    }

    /** A server that tells its watch of each version, on the thread that writes it, before the write is over. */
    static final class WatchedServer implements ListerWatcher<Secret> {

        private final ObjectKey key;
        private int version = 1; // guarded by this
        private @Nullable Consumer<WatchEvent<Secret>> watcher; // guarded by this

        WatchedServer() {
            this(KEY);
        }

        private WatchedServer(ObjectKey key) {
            this.key = key;
        }

        WatchObjectStore<Secret> store() {
            return new WatchObjectStore<>(
                    ObjectKind.SECRET,
                    wanted -> wanted.equals(key) ? this : new WatchedServer(wanted),
                    (wanted, freshness, timeout) -> {
                        throw new AssertionError("lists are allowed");
                    },
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
            return CompletableFuture.supplyAsync(
                    () -> {
                        Fetched<Secret> now = fetched();
                        return new Listed<>(ImmutableList.of(now), now.resourceVersion());
                    },
                    SERVER);
        }

        @Override
        public WatchHandle watch(String from, Duration serverTimeout, Consumer<WatchEvent<Secret>> events) {
            Fetched<Secret> now;
            synchronized (this) {
                watcher = events;
                now = fetched();
            }
            // what was written since the list; a write that is told meanwhile is newer
            if (!now.resourceVersion().equals(from)) {
                events.accept(new WatchEvent.Upserted<>(now));
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
            return SharedSecret.fetched(key, now);
        }
    }
}
