package dev.podcache.reflector;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Receives the objects that a {@link Reflector} lists and watches. Calls never overlap, but may come from different
 * threads; they must not block. None begins after {@link Reflector#close} has returned, but one may still run then. An
 * exception is logged and counts as a failed attempt: {@link #disconnected} is called and then, after a pause, a list
 * repairs what the sink missed.
 *
 * @param <T> the model class
 */
public interface ReflectorSink<T> {

    /**
     * Reports that a list begins now, just before its request, whether it is plain, streamed or confirms what the sink
     * knows. One of these calls follows, unless the reflector is closed: {@link #replace} with its answer; {@link
     * #disconnected} if it failed; {@link #connected} or {@link #resumed} if an event, or another watch, made it
     * superfluous; or this method, if it is made again, as a plain list if the server refused to stream it.
     */
    default void listing() {}

    /**
     * Reports that the request of the list that began last was written to a connection to the server: what follows is
     * the server's time. Comes before the answer of the list, and not at all if the list fails without being sent.
     */
    default void listWritten() {}

    /**
     * Replaces all objects by the result of a list: these objects exist, and no others.
     *
     * @param items the objects, unmodifiable
     * @param resourceVersion the version of the list
     */
    void replace(List<Fetched<T>> items, String resourceVersion);

    /** Adds or replaces an object that appeared or changed, or is reported again. */
    void upsert(Fetched<T> fetched);

    /**
     * Removes an object.
     *
     * @param last its last state, with the version of the deletion
     */
    void delete(Fetched<T> last);

    /**
     * Reports that the sink is up to date and that changes follow as they happen: a watch was accepted and, after a
     * failed attempt, something newer has confirmed it. Called again after each {@link #disconnected}.
     */
    void connected();

    /**
     * Reports that a watch was accepted after a failed attempt, but the sink may still be outdated: {@link #connected}
     * follows once a bookmark or a list confirms it. Called for {@link Reflector#ofOneObject} and {@link
     * Reflector#confirming} only.
     */
    default void resumed() {}

    /**
     * Reports that a list or a watch failed: the sink may be outdated from now on. Called once for each failed attempt,
     * but not for a watch that the server ended in an orderly way, which is replaced at once. If no other is accepted,
     * that is reported 10 to 20 s later, or in an outage within 10 s.
     */
    void disconnected(ApiServerException cause);

    /**
     * Returns the pause after a refusal (403) that may pass soon, because what it is for is new; null if the reflector's
     * own pauses apply. Called after {@link #disconnected}. Such an attempt is not spread, and does not count as a failure
     * for later pauses.
     */
    default @Nullable Duration pauseAfterRefusal() {
        return null;
    }
}
