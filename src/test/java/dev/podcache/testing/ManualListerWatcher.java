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

/** A {@link ListerWatcher} whose lists and watches are answered by the test. Not thread-safe. */
public final class ManualListerWatcher<T> implements ListerWatcher<T> {

    private final List<CompletableFuture<Listed<T>>> lists = new ArrayList<>();
    private final List<ManualWatch<T>> watches = new ArrayList<>();
    private final List<ApiServerException> refusals = new ArrayList<>();
    private boolean streams;
    private boolean writesLater;
    private Runnable written = () -> {};
    private @Nullable RuntimeException thrownNext;

    /** An open watch, whose events the test sends. */
    public static final class ManualWatch<T> implements WatchHandle {

        /** The version to watch from; "streamed" if the watch begins with a list. */
        public final String resourceVersion;

        public final Duration serverTimeout;
        private final Consumer<WatchEvent<T>> events;
        private boolean closed;
        private boolean ended;

        private ManualWatch(String resourceVersion, Duration serverTimeout, Consumer<WatchEvent<T>> events) {
            this.resourceVersion = resourceVersion;
            this.serverTimeout = serverTimeout;
            this.events = events;
        }

        /** Sends an event. */
        public void tell(WatchEvent<T> event) {
            events.accept(event);
        }

        /** Sends the event that the server has accepted the watch. */
        public void open() {
            tell(new WatchEvent.Opened<>());
        }

        /** Sends an added or modified object. */
        public void upsert(T object, String version) {
            tell(new WatchEvent.Upserted<>(new Fetched<>(object, version, 1)));
        }

        /** Sends a deleted object. */
        public void delete(T object, String version) {
            tell(new WatchEvent.Deleted<>(new Fetched<>(object, version, 1)));
        }

        /** Sends a bookmark. */
        public void bookmark(String version) {
            tell(new WatchEvent.Bookmark<>(version));
        }

        /** Sends the bookmark that ends a streamed list. */
        public void endList(String version) {
            tell(new WatchEvent.Bookmark<>(version, true));
        }

        /** Ends the watch; {@code failure} is null if the server ended it normally. */
        public void end(@Nullable ApiServerException failure) {
            ended = true;
            tell(new WatchEvent.Ended<>(failure));
        }

        /** Returns whether the client has closed the watch. */
        public boolean closed() {
            return closed;
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    /** Has the requests of lists written only by {@link #write}: the server is not reached yet. */
    public void setWritesLater() {
        writesLater = true;
    }

    /** Writes the request of the latest list. */
    public void write() {
        written.run();
    }

    /** Makes the next list throw, which no implementation should do. */
    public void throwNext(RuntimeException thrown) {
        thrownNext = thrown;
    }

    @Override
    public CompletableFuture<Listed<T>> list(Duration timeout, Runnable written) {
        wrote(written);
        return list(timeout);
    }

    private void wrote(Runnable latest) {
        written = latest;
        if (!writesLater) {
            latest.run();
        }
    }

    @Override
    public CompletableFuture<Listed<T>> list(Duration timeout) {
        RuntimeException thrown = thrownNext;
        if (thrown != null) {
            thrownNext = null;
            throw thrown;
        }
        CompletableFuture<Listed<T>> list = new CompletableFuture<>();
        lists.add(list);
        return list;
    }

    @Override
    public WatchHandle watch(String resourceVersion, Duration serverTimeout, Consumer<WatchEvent<T>> events) {
        ManualWatch<T> watch = new ManualWatch<>(resourceVersion, serverTimeout, events);
        watches.add(watch);
        return watch;
    }

    /** Sets whether lists may be streamed, until one is refused. */
    public void setStreams(boolean on) {
        streams = on;
    }

    @Override
    public boolean streamsLists() {
        return streams;
    }

    @Override
    public WatchHandle streamList(Duration serverTimeout, Consumer<WatchEvent<T>> events) {
        return watch("streamed", serverTimeout, events);
    }

    @Override
    public WatchHandle streamList(Duration serverTimeout, Consumer<WatchEvent<T>> events, Runnable written) {
        wrote(written);
        return streamList(serverTimeout, events);
    }

    @Override
    public void streamRefused(ApiServerException failure) {
        streams = false;
        refusals.add(failure);
    }

    /** Returns the reported refusals of streamed lists. */
    public List<ApiServerException> refusals() {
        return refusals;
    }

    /** Returns the number of list calls. */
    public int lists() {
        return lists.size();
    }

    /** Returns the number of watch calls, with those that begin with a list. */
    public int watches() {
        return watches.size();
    }

    /** Returns the number of watches that have neither ended nor been closed. */
    public long openWatches() {
        return watches.stream().filter(watch -> !watch.closed && !watch.ended).count();
    }

    /** Returns the latest watch. */
    public ManualWatch<T> watch() {
        return watches.get(watches.size() - 1);
    }

    /** Answers the latest list. */
    public void answer(String version, List<Fetched<T>> items) {
        answer(lists.size() - 1, version, items);
    }

    /** Answers the list of a number, which counts from 0. */
    public void answer(int list, String version, List<Fetched<T>> items) {
        lists.get(list).complete(new Listed<>(ImmutableList.copyOf(items), version));
    }

    /** Fails the latest list. */
    public void fail(ApiServerException failure) {
        lists.get(lists.size() - 1).completeExceptionally(failure);
    }

    @Override
    public String toString() {
        return "things";
    }
}
