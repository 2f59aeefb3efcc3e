package dev.podcache;

import com.google.common.collect.ImmutableList;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.Freshness;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.object.ObjectKey;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * An API server that answers at once, but for lists, which may be held up; from nowhere, and
 * nothing ever changes on it.
 */
final class InMemoryObjects<T> implements ObjectGetter<T> {

    private static final String VERSION = "1";

    private final Function<ObjectKey, T> make;

    private final Executor lists;

    /**
     * Has everything that is asked for.
     *
     * @param lists answers lists
     */
    InMemoryObjects(Function<ObjectKey, T> make, Executor lists) {
        this.make = make;
        this.lists = lists;
    }

    @Override
    public CompletableFuture<Fetched<T>> get(ObjectKey key, Freshness freshness, Duration timeout) {
        return CompletableFuture.completedFuture(fetched(key));
    }

    private Fetched<T> fetched(ObjectKey key) {
        return new Fetched<>(make.apply(key), VERSION, 1);
    }

    /** Lists and watches one of them. */
    ListerWatcher<T> byName(ObjectKey key) {
        return new ListerWatcher<>() {
            @Override
            public CompletableFuture<Listed<T>> list(Duration timeout) {
                return CompletableFuture.supplyAsync(
                        () -> new Listed<>(ImmutableList.of(fetched(key)), VERSION), lists);
            }

            @Override
            public WatchHandle watch(String from, Duration serverTimeout, Consumer<WatchEvent<T>> events) {
                events.accept(new WatchEvent.Opened<>());
                return () -> {};
            }
        };
    }
}
