package dev.podcache.testing;

import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** Passes on only the objects whose names a predicate accepts, and the versions of the others, as the decoder does. */
public final class FilteredListerWatcher<T extends HasMetadata> implements ListerWatcher<T> {

    private final ListerWatcher<T> all;
    private final Predicate<String> names;

    public FilteredListerWatcher(ListerWatcher<T> all, Predicate<String> names) {
        this.all = all;
        this.names = names;
    }

    @Override
    public CompletableFuture<Listed<T>> list(Duration timeout) {
        return all.list(timeout)
                .thenApply(listed -> new Listed<>(
                        listed.items().stream().filter(this::isAccepted).toList(), listed.resourceVersion()));
    }

    @Override
    public WatchHandle watch(String resourceVersion, Duration serverTimeout, Consumer<WatchEvent<T>> events) {
        return all.watch(resourceVersion, serverTimeout, event -> events.accept(filtered(event)));
    }

    private WatchEvent<T> filtered(WatchEvent<T> event) {
        Fetched<T> object = null;
        if (event instanceof WatchEvent.Upserted<T> upserted) {
            object = upserted.fetched();
        } else if (event instanceof WatchEvent.Deleted<T> deleted) {
            object = deleted.last();
        }
        return object == null || isAccepted(object) ? event : new WatchEvent.Undecoded<>(object.resourceVersion());
    }

    private boolean isAccepted(Fetched<T> fetched) {
        return names.test(fetched.object().getMetadata().getName());
    }

    @Override
    public String toString() {
        return all.toString();
    }
}
