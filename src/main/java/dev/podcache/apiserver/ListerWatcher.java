package dev.podcache.apiserver;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * Lists and watches the objects of one kind in one namespace that match one field selector. Kind, namespace and
 * selector are fixed at creation. Thread-safe.
 *
 * @param <T> the model class
 */
public interface ListerWatcher<T> {

    /**
     * Lists the objects, in a single attempt. Returns at once and never throws; the future completes on a thread of the
     * implementation, soon after {@code timeout} at the latest.
     *
     * @param timeout positive
     * @return the objects that match, or exceptionally an {@link ApiServerException}
     */
    CompletableFuture<Listed<T>> list(Duration timeout);

    /**
     * Lists the objects like {@link #list(Duration)}, and reports that the request was sent. The default implementation
     * reports it at once: for one without connections.
     *
     * @param written runs at most once, before the answer, when the request was written to a connection to the server;
     *     of several requests, the first. Must be brief and not throw. Comes on any thread
     */
    default CompletableFuture<Listed<T>> list(Duration timeout, Runnable written) {
        written.run();
        return list(timeout);
    }

    /**
     * Watches the changes after {@code resourceVersion}, with bookmarks, in a single attempt. Returns at once and never
     * throws.
     *
     * <p>{@code events} is called by one thread at a time, in order: at most one {@link WatchEvent.Opened} first, then
     * any number of changes and bookmarks, then exactly one {@link WatchEvent.Ended}, even if the watch never opened.
     * It must not block. After {@link WatchHandle#close()} there is at most one more event, which another thread was
     * about to deliver.
     *
     * @param resourceVersion the version of a list, an event or a bookmark; "" starts with all objects that exist, each
     *     as an {@link WatchEvent.Upserted}, for which the server must scan every object of the kind
     * @param serverTimeout how long the server is asked to keep the watch open
     * @param events receives the events
     */
    WatchHandle watch(String resourceVersion, Duration serverTimeout, Consumer<WatchEvent<T>> events);

    /**
     * Returns whether {@link #streamList} may be called now. Returns at once and never throws. May ask the server in
     * the background, and returns false until the answer is known. The default implementation returns false.
     */
    default boolean streamsLists() {
        return false;
    }

    /**
     * Lists and watches with one request, in a single attempt: like {@link #watch}, but the objects that exist come
     * first, each as an {@link WatchEvent.Upserted}, and then a {@link WatchEvent.Bookmark} that {@linkplain
     * WatchEvent.Bookmark#endsList ends the list}. Changes that happen meanwhile may come before that bookmark. The
     * state at the bookmark is not older than the call.
     *
     * @param serverTimeout how long the server is asked to keep the watch open
     * @param events receives the events
     * @throws UnsupportedOperationException if {@link #streamsLists} never returns true
     */
    default WatchHandle streamList(Duration serverTimeout, Consumer<WatchEvent<T>> events) {
        throw new UnsupportedOperationException(this + " cannot be listed by a watch");
    }

    /**
     * Lists and watches like {@link #streamList(Duration, Consumer)}, and reports that the request was sent. The default
     * implementation reports it at once: for one without connections.
     *
     * @param written runs at most once, before the first event, when the request was written to a connection to the
     *     server. Must be brief and not throw. Comes on any thread
     */
    default WatchHandle streamList(Duration serverTimeout, Consumer<WatchEvent<T>> events, Runnable written) {
        written.run();
        return streamList(serverTimeout, events);
    }

    /**
     * Reports that the server did not understand {@link #streamList}, so that {@link #streamsLists} returns false until
     * the server may have changed. The default implementation does nothing.
     *
     * @param failure how the attempt failed
     */
    default void streamRefused(ApiServerException failure) {}

    /** Describes the selected objects for logs and errors, such as {@code pods with spec.nodeName=worker-1}. */
    @Override
    String toString();
}
