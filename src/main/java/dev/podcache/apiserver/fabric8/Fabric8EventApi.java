package dev.podcache.apiserver.fabric8;

import dev.podcache.apiserver.EventApi;
import dev.podcache.object.ObjectKey;
import io.fabric8.kubernetes.api.model.Event;
import java.util.concurrent.CompletableFuture;

/** {@link EventApi} within the client-side limit. */
final class Fabric8EventApi implements EventApi {

    private final ObjectRequests<Event> events;

    Fabric8EventApi(ObjectRequests<Event> events) {
        this.events = events;
    }

    @Override
    public CompletableFuture<Event> create(Event event) {
        return events.create(event);
    }

    @Override
    public CompletableFuture<Event> patch(ObjectKey key, String patch) {
        return events.patch(key, patch);
    }
}
