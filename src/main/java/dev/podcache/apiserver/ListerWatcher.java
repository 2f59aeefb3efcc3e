package dev.podcache.apiserver;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * Follows the objects of one kind that one namespace and one field selector choose; both are
 * fixed at creation. Thread-safe.
 *
 * @param <T> the model class
 */
public interface ListerWatcher<T> {

    /**
     * One attempt at the latest state. Returns at once and never throws; the future completes on a thread of the
     * implementation, within {@code timeout} and a little.
     *
     * @param timeout positive
     * @return what matches, or exceptionally an {@link ApiServerException}
     */
    CompletableFuture<Listed<T>> list(Duration timeout);

    /**
     * One attempt to follow what happens after {@code resourceVersion}, bookmarks included.
     * Returns at once and never throws.
     *
     * <p>{@code events} is called by one thread at a time, in order: at most one {@link WatchEvent.Opened} first, then
     * any number of changes and bookmarks, then exactly one {@link WatchEvent.Ended}, also when the watch never opened.
     * It must not block. After {@link WatchHandle#close()} nothing more comes, not even the end.
     *
     * @param resourceVersion from where, as a list, an event or a bookmark gave it; "" begins with the objects that are
     *     there, each as an {@link WatchEvent.Upserted}, which costs the server a walk over every object of the kind
     * @param serverTimeout after which the server is asked to end the watch
     * @param events told what happens
     */
    WatchHandle watch(String resourceVersion, Duration serverTimeout, Consumer<WatchEvent<T>> events);

    /** What is followed, for logs and errors, such as {@code pods with spec.nodeName=worker-1}. */
    @Override
    String toString();
}
