package dev.podcache.apiserver;

import dev.podcache.object.ObjectKey;
import io.fabric8.kubernetes.api.model.Event;
import java.util.concurrent.CompletableFuture;

/** Where events for people are written. Thread-safe; the calls behave as those of {@link NodeApi}. */
public interface EventApi {

    /**
     * Writes a new event.
     *
     * @return exceptionally {@link dev.podcache.object.FailureReason#ALREADY_EXISTS} if there is one of that name
     */
    CompletableFuture<Event> create(Event event);

    /**
     * Changes an event, such as how often it was seen.
     *
     * @param patch a strategic merge patch, as JSON
     * @return exceptionally {@link dev.podcache.object.FailureReason#NOT_FOUND} if it has been forgotten, as events are
     */
    CompletableFuture<Event> patch(ObjectKey key, String patch);
}
