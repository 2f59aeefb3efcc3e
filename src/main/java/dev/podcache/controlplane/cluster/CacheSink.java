package dev.podcache.controlplane.cluster;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.reflector.ReflectorSink;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Passes the objects of a reflector to a table, as tasks of the cache's loop. Thread-safe. */
final class CacheSink<T> implements ReflectorSink<T> {

    private final CacheTable<T> table;
    private final ControllerLoop loop;
    private final Runnable firstListed;
    private final @Nullable WatchedTime time;
    private boolean listed; // used by tasks of the loop only

    /**
     * Creates a sink.
     *
     * @param firstListed called after the first list
     * @param time stands still while the objects are not watched; null if it does not depend on them
     */
    CacheSink(CacheTable<T> table, ControllerLoop loop, Runnable firstListed, @Nullable WatchedTime time) {
        this.table = table;
        this.loop = loop;
        this.firstListed = firstListed;
        this.time = time;
    }

    @Override
    public void replace(List<Fetched<T>> items, String resourceVersion) {
        loop.execute(() -> {
            table.replace(items.stream().map(Fetched::object).toList());
            if (!listed) {
                listed = true;
                firstListed.run();
            }
        });
    }

    @Override
    public void upsert(Fetched<T> fetched) {
        loop.execute(() -> table.put(fetched.object()));
    }

    @Override
    public void delete(Fetched<T> last) {
        loop.execute(() -> table.remove(last.object()));
    }

    @Override
    public void connected() {
        if (time != null) {
            loop.execute(() -> time.found(this));
        }
    }

    @Override
    public void disconnected(ApiServerException cause) {
        if (time != null) {
            loop.execute(() -> time.lost(this));
        }
    }
}
