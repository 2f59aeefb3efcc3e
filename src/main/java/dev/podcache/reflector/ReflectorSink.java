package dev.podcache.reflector;

import com.google.common.collect.ImmutableList;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;

/**
 * Where a {@link Reflector} writes. Called by one thread at a time, each call after the one before it has returned;
 * must not block. What a sink throws is logged and counts as a failed attempt: {@link #disconnected} comes and then,
 * after a pause, a list, so that the sink is told again what it did not take.
 *
 * @param <T> the model class
 */
public interface ReflectorSink<T> {

    /**
     * A list: these objects exist, and no others.
     *
     * @param items what matched
     * @param resourceVersion of the list
     */
    void replace(ImmutableList<Fetched<T>> items, String resourceVersion);

    /** An object appeared or changed, or is told once more. */
    void upsert(Fetched<T> fetched);

    /**
     * An object vanished.
     *
     * @param last its last state, with the version of the deletion
     */
    void delete(Fetched<T> last);

    /**
     * What the sink holds is up to date, and from now on changes are told as they happen: a watch was accepted and, if
     * an attempt had failed before, something newer has confirmed it. Comes again after each {@link #disconnected}.
     */
    void connected();

    /**
     * A watch was accepted after an attempt had failed, but what the sink holds may still be behind: {@link #connected}
     * follows when an event, a bookmark or a list has confirmed it. Told by {@link Reflector#ofOneObject} only.
     */
    default void resumed() {}

    /**
     * A list or a watch failed: what the sink holds may be behind from now on. Comes once for each failed attempt. A
     * watch that the server ended in good order is none, it is replaced at once.
     */
    void disconnected(ApiServerException cause);
}
