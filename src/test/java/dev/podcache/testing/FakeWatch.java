package dev.podcache.testing;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.embedded.ApiRequest;
import dev.podcache.embedded.ClusterEvent;
import dev.podcache.embedded.ClusterWatch;
import dev.podcache.embedded.Faults;
import dev.podcache.embedded.WatchListener;
import dev.podcache.object.ModelJson;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Status;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A watch of a {@link FakeListerWatcher}: translates events of the cluster to events of the port. Ends once. */
final class FakeWatch<T extends HasMetadata> implements WatchHandle, WatchListener, Faults.OpenedWatch {

    private final FakeApiServer server;
    private final ObjectKind<T> kind;
    private final ApiRequest request;
    private final Consumer<WatchEvent<T>> events;
    private final AtomicBoolean over = new AtomicBoolean();
    private volatile @Nullable ClusterWatch watch;

    FakeWatch(FakeApiServer server, ObjectKind<T> kind, ApiRequest request, Consumer<WatchEvent<T>> events) {
        this.server = server;
        this.kind = kind;
        this.request = request;
        this.events = events;
    }

    ObjectKey key() {
        return request.key();
    }

    void open(Function<WatchListener, ClusterWatch> opening) {
        if (over.get()) {
            return;
        }
        server.watchOpened(this, request);
        events.accept(new WatchEvent.Opened<>());
        watch = opening.apply(this);
        closeIfOver();
    }

    void refuse(Throwable failure) {
        if (over.compareAndSet(false, true)) {
            if (failure instanceof ApiServerException facts) {
                events.accept(new WatchEvent.Ended<>(facts));
            } else {
                throw new AssertionError(failure);
            }
        }
    }

    @Override
    public void event(ClusterEvent event) {
        if (over.get()) {
            return;
        }
        if (event.type() == ClusterEvent.ChangeType.BOOKMARK || event.type() == ClusterEvent.ChangeType.ERROR) {
            tell(event);
            return;
        }
        switch (server.faults().outcomeOfEvent(request)) {
            case PASS -> tell(event);
            case DROP -> {}
            case DUPLICATE -> {
                tell(event);
                tell(event);
            }
            case CUT -> reset();
        }
    }

    private void tell(ClusterEvent event) {
        ObjectNode object = event.object();
        switch (event.type()) {
            case ADDED, MODIFIED -> events.accept(new WatchEvent.Upserted<>(FakeGetter.fetched(kind, object)));
            case DELETED -> events.accept(new WatchEvent.Deleted<>(FakeGetter.fetched(kind, object)));
            case BOOKMARK ->
                events.accept(new WatchEvent.Bookmark<>(
                        object.path("metadata").path("resourceVersion").asText(),
                        object.path("metadata").path("annotations").has("k8s.io/initial-events-end")));
            case ERROR -> end(FakeCall.answered(request, status(object)));
        }
    }

    @Override
    public void ended() {
        end(null);
    }

    @Override
    public void reset() {
        end(FakeCall.connectionLost(request));
    }

    @Override
    public void close() {
        leave();
    }

    private void end(@Nullable ApiServerException failure) {
        if (leave()) {
            events.accept(new WatchEvent.Ended<>(failure));
        }
    }

    private boolean leave() {
        boolean first = over.compareAndSet(false, true);
        closeIfOver();
        return first;
    }

    private void closeIfOver() {
        ClusterWatch open = watch;
        if (over.get()) {
            server.watchClosed(this);
            if (open != null) {
                open.close();
            }
        }
    }

    private static Status status(ObjectNode object) {
        return ModelJson.model(object, Status.class);
    }
}
