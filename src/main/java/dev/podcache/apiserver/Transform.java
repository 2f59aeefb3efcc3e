package dev.podcache.apiserver;

import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A user's function that changes each object of one kind before it is kept, to drop what is not needed. Wraps a getter
 * or a lister-watcher: the function is applied once to each object, on the thread that received it. If the function
 * fails, the read fails with reason {@link FailureReason#UNREADABLE}. The message names the class of the exception and
 * the line that threw it, but does not quote its message, which may contain a Secret. Thread-safe if the function is.
 *
 * @param <T> the model class
 */
public final class Transform<T extends HasMetadata> {

    private final ObjectKind<T> kind;
    private final UnaryOperator<T> function;

    /** Wraps the function of a user. */
    public Transform(ObjectKind<T> kind, UnaryOperator<T> function) {
        this.kind = Objects.requireNonNull(kind, "kind");
        this.function = Objects.requireNonNull(function, "transform");
    }

    /**
     * Returns this transform for a kind that is equal to its own.
     *
     * @throws IllegalArgumentException if the model classes differ
     */
    @SuppressWarnings("unchecked") // the model class is compared
    public <U extends HasMetadata> Transform<U> forKind(ObjectKind<U> other) {
        if (kind.model() != other.model()) {
            throw new IllegalArgumentException("the transform of " + kind.apiVersion() + " " + kind
                    + " is for the model class " + kind.model().getName() + ": use this class for the kind, not "
                    + other.model().getName());
        }
        return (Transform<U>) this;
    }

    /** Returns a getter whose objects are transformed. */
    public ObjectGetter<T> of(ObjectGetter<T> getter) {
        return (key, consistency, timeout) ->
                getter.get(key, consistency, timeout).thenApply(this::apply);
    }

    /** Returns a lister-watcher whose objects are transformed, except the last state of a deleted object. */
    public ListerWatcher<T> of(ListerWatcher<T> server) {
        return new TransformedListerWatcher(server);
    }

    private final class TransformedListerWatcher implements ListerWatcher<T> {

        private final ListerWatcher<T> server;

        TransformedListerWatcher(ListerWatcher<T> server) {
            this.server = server;
        }

        @Override
        public CompletableFuture<Listed<T>> list(Duration timeout) {
            return server.list(timeout).thenApply(this::applyToAll);
        }

        @Override
        public CompletableFuture<Listed<T>> list(Duration timeout, Runnable written) {
            return server.list(timeout, written).thenApply(this::applyToAll);
        }

        private Listed<T> applyToAll(Listed<T> listed) {
            List<Fetched<T>> items =
                    listed.items().stream().map(Transform.this::apply).toList();
            return new Listed<>(items, listed.resourceVersion());
        }

        @Override
        public WatchHandle watch(String resourceVersion, Duration serverTimeout, Consumer<WatchEvent<T>> events) {
            return server.watch(resourceVersion, serverTimeout, event -> events.accept(applyTo(event)));
        }

        @Override
        public boolean streamsLists() {
            return server.streamsLists();
        }

        @Override
        public WatchHandle streamList(Duration serverTimeout, Consumer<WatchEvent<T>> events) {
            return server.streamList(serverTimeout, event -> events.accept(applyTo(event)));
        }

        @Override
        public WatchHandle streamList(Duration serverTimeout, Consumer<WatchEvent<T>> events, Runnable written) {
            return server.streamList(serverTimeout, event -> events.accept(applyTo(event)), written);
        }

        @Override
        public void streamRefused(ApiServerException failure) {
            server.streamRefused(failure);
        }

        private WatchEvent<T> applyTo(WatchEvent<T> event) {
            if (!(event instanceof WatchEvent.Upserted<T> upserted)) {
                return event;
            }
            try {
                return new WatchEvent.Upserted<>(apply(upserted.fetched()));
            } catch (ApiServerException failure) {
                return new WatchEvent.Ended<>(failure);
            }
        }

        @Override
        public String toString() {
            return server.toString();
        }
    }

    private Fetched<T> apply(Fetched<T> fetched) {
        VersionedName before = VersionedName.of(fetched.object());
        T transformed;
        try {
            transformed = function.apply(fetched.object());
        } catch (Throwable e) {
            StackTraceElement[] trace = e.getStackTrace();
            throw failure(before, "threw " + e.getClass().getName() + (trace.length == 0 ? "" : " at " + trace[0]));
        }
        if (transformed == null) {
            throw failure(before, "returned null");
        }
        if (!before.equals(VersionedName.of(transformed))) {
            throw failure(before, "changed the name, the namespace or the resourceVersion");
        }
        return new Fetched<>(transformed, fetched.resourceVersion(), fetched.encodedBytes());
    }

    /** The fields that a transform must not change. */
    private record VersionedName(
            @Nullable String namespace,
            @Nullable String name,
            @Nullable String resourceVersion) {

        static VersionedName of(HasMetadata object) {
            ObjectMeta metadata = object.getMetadata();
            return metadata == null
                    ? new VersionedName(null, null, null)
                    : new VersionedName(metadata.getNamespace(), metadata.getName(), metadata.getResourceVersion());
        }

        @Override
        public String toString() {
            return namespace == null || namespace.isEmpty() ? String.valueOf(name) : namespace + "/" + name;
        }
    }

    private ApiServerException failure(VersionedName read, String why) {
        return ApiServerException.withoutAnswer(
                FailureReason.UNREADABLE, "reading " + kind + " " + read, "the transform " + why, null);
    }
}
