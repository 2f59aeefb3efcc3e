package dev.podcache;

import com.google.common.io.Closer;
import dev.podcache.apiserver.AccessReviews;
import dev.podcache.apiserver.CachedReviews;
import dev.podcache.manager.Managers;
import dev.podcache.metrics.CountedEvents;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.Subject;
import dev.podcache.store.ObjectTtlSource;
import dev.podcache.store.Store;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.TtlObjectStore;
import dev.podcache.store.WatchObjectStore;
import dev.podcache.store.WatchObjectStore.WatchTimes;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * A {@link Podcache} of the parts that {@link PodcacheBuilder} makes one of, but for the API server: the builder
 * takes only a real one, and a benchmark of thousands of objects in a JVM that holds the connections and threads of
 * both ends would measure those too.
 */
public final class FrontDoor {

    static final Duration TTL = Duration.ofHours(1);

    private final Timekeeper timekeeper = Timekeeper.system();
    private final StoreOptions options = StoreOptions.defaults(timekeeper);
    private final Closer parts = Closer.create();
    private final Entries entries;
    private final CachedReviews reviews = new CachedReviews(new AllowingReviews(), false, timekeeper);

    /** Allows everything. */
    private static final class AllowingReviews implements AccessReviews {

        @Override
        public CompletableFuture<Optional<Subject>> reviewToken(String token) {
            return CompletableFuture.completedFuture(Optional.empty());
        }

        @Override
        public CompletableFuture<Review> review(Subject subject, ResourceAccess access) {
            return CompletableFuture.completedFuture(new Review(true, ""));
        }
    }

    /** How entries are kept. */
    public enum Entries {
        TTL,
        WATCH
    }

    private record ConstantTtl(long ttlNanos) implements ObjectTtlSource {
        @Override
        public String origin() {
            return "fixed";
        }
    }

    private FrontDoor(Entries entries) {
        this.entries = entries;
        parts.register(timekeeper::close);
        parts.register(reviews::close);
    }

    /** Begins threads, which end with the cache. */
    static Podcache open(Entries entries) {
        return open(entries, Kind::secret);
    }

    /** The same of these Secrets. */
    static Podcache open(Entries entries, Function<ObjectKey, Secret> secrets) {
        return open(entries, secrets, false);
    }

    /** The same, counting hits. */
    static Podcache recording(Entries entries) {
        return open(entries, Kind::secret, true);
    }

    private static Podcache open(Entries entries, Function<ObjectKey, Secret> secrets, boolean recordsStats) {
        FrontDoor door = new FrontDoor(entries);
        Managers.Stores stores = new Managers.Stores() {
            @Override
            @SuppressWarnings("unchecked") // the kinds that pods refer to are two
            public <T extends HasMetadata> Store<T> storeOf(ObjectKind<T> kind) {
                return kind.equals(ObjectKind.SECRET)
                        ? (Store<T>) door.store(ObjectKind.SECRET, new InMemoryObjects<>(secrets))
                        : (Store<T>) door.store(ObjectKind.CONFIG_MAP, new InMemoryObjects<>(Kind::configMap));
            }

            @Override
            public boolean countsReferences(ObjectKind<?> kind) {
                return true;
            }
        };
        return new Podcache(
                new Managers(stores, new CountedEvents(PodcacheMetrics.NONE), recordsStats, Set.of(), door.reviews),
                door.options.timekeeper(),
                door.parts);
    }

    private <T extends HasMetadata> Store<T> store(ObjectKind<T> kind, InMemoryObjects<T> objects) {
        return switch (entries) {
            case TTL -> {
                TtlObjectStore<T> store = new TtlObjectStore<>(kind, objects, new ConstantTtl(TTL.toNanos()), options);
                parts.register(store::close);
                yield store;
            }
            case WATCH -> {
                WatchObjectStore<T> store =
                        new WatchObjectStore<>(kind, objects::byName, objects, options, WatchTimes.DEFAULT);
                parts.register(store::close);
                yield store;
            }
        };
    }
}
