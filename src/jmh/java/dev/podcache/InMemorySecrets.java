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
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** Answers at once, from nowhere: what a benchmark of hits fills a store with. */
final class InMemorySecrets implements ObjectGetter<Secret> {

    private static final String VERSION = "1";

    @Override
    public CompletableFuture<Fetched<Secret>> get(ObjectKey key, Freshness freshness, Duration timeout) {
        return CompletableFuture.completedFuture(fetched(key));
    }

    static Secret secret(ObjectKey key) {
        return Secrets.of(key, key.toString());
    }

    private static Fetched<Secret> fetched(ObjectKey key) {
        return new Fetched<>(secret(key), VERSION, 1);
    }

    /** Lists and watches one of them, which never changes. */
    static ListerWatcher<Secret> byName(ObjectKey key) {
        return new ListerWatcher<>() {
            @Override
            public CompletableFuture<Listed<Secret>> list(Duration timeout) {
                return CompletableFuture.completedFuture(new Listed<>(ImmutableList.of(fetched(key)), VERSION));
            }

            @Override
            public WatchHandle watch(String from, Duration serverTimeout, Consumer<WatchEvent<Secret>> events) {
                events.accept(new WatchEvent.Opened<>());
                return () -> {};
            }
        };
    }
}
