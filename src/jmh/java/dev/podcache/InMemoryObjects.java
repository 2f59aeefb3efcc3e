package dev.podcache;

import com.google.common.collect.ImmutableList;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.apiserver.ReadSource;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.object.ObjectKey;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;

/** An API server that answers at once, and on which nothing ever changes. */
final class InMemoryObjects<T> implements ObjectGetter<T> {

    private static final String VERSION = "1";

    private final Function<ObjectKey, T> make;

    /** Has everything that is asked for. */
    InMemoryObjects(Function<ObjectKey, T> make) {
        this.make = make;
    }

    @Override
    public CompletableFuture<Fetched<T>> get(ObjectKey key, ReadSource freshness, Duration timeout) {
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
                return CompletableFuture.completedFuture(new Listed<>(ImmutableList.of(fetched(key)), VERSION));
            }

            @Override
            public WatchHandle watch(String from, Duration serverTimeout, Consumer<WatchEvent<T>> events) {
                events.accept(new WatchEvent.Opened<>());
                return () -> {};
            }
        };
    }
}
