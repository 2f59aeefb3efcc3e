package dev.podcache.testing;

import com.google.common.collect.ImmutableList;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A {@link ListerWatcher} that answers only when a test says so: each list and each watch is kept, to be
 * answered by hand. For one thread.
 */
public final class ManualListerWatcher<T> implements ListerWatcher<T> {

    private final List<CompletableFuture<Listed<T>>> lists = new ArrayList<>();
    private final List<Watch<T>> watches = new ArrayList<>();

    /** A watch that was asked for. */
    public static final class Watch<T> implements WatchHandle {

        public final String resourceVersion;
        public final Duration serverTimeout;
        private final Consumer<WatchEvent<T>> events;
        private boolean closed;
        private boolean ended;

        private Watch(String resourceVersion, Duration serverTimeout, Consumer<WatchEvent<T>> events) {
            this.resourceVersion = resourceVersion;
            this.serverTimeout = serverTimeout;
            this.events = events;
        }

        public void tell(WatchEvent<T> event) {
            events.accept(event);
        }

        public void open() {
            tell(new WatchEvent.Opened<>());
        }

        public void upsert(T object, String version) {
            tell(new WatchEvent.Upserted<>(new Fetched<>(object, version, 1)));
        }

        public void delete(T object, String version) {
            tell(new WatchEvent.Deleted<>(new Fetched<>(object, version, 1)));
        }

        public void bookmark(String version) {
            tell(new WatchEvent.Bookmark<>(version));
        }

        public void end(@Nullable ApiServerException failure) {
            ended = true;
            tell(new WatchEvent.Ended<>(failure));
        }

        public boolean closed() {
            return closed;
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    @Override
    public CompletableFuture<Listed<T>> list(Duration timeout) {
        CompletableFuture<Listed<T>> list = new CompletableFuture<>();
        lists.add(list);
        return list;
    }

    @Override
    public WatchHandle watch(String resourceVersion, Duration serverTimeout, Consumer<WatchEvent<T>> events) {
        Watch<T> watch = new Watch<>(resourceVersion, serverTimeout, events);
        watches.add(watch);
        return watch;
    }

    /** How many lists there have been. */
    public int lists() {
        return lists.size();
    }

    /** How many watches there have been. */
    public int watches() {
        return watches.size();
    }

    /** How many watches were neither closed nor have they ended. */
    public long openWatches() {
        return watches.stream().filter(watch -> !watch.closed && !watch.ended).count();
    }

    /** The latest watch. */
    public Watch<T> watch() {
        return watches.get(watches.size() - 1);
    }

    /** Answers the latest list. */
    public void answer(String version, List<Fetched<T>> items) {
        lists.get(lists.size() - 1).complete(new Listed<>(ImmutableList.copyOf(items), version));
    }

    /** Lets the latest list fail. */
    public void fail(ApiServerException failure) {
        lists.get(lists.size() - 1).completeExceptionally(failure);
    }

    @Override
    public String toString() {
        return "things";
    }
}
