package dev.podcache.testkit;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.apiserver.ReadSource;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ModelJson;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The objects of one kind on a server that answers at once, on the calling thread. */
final class FakeObjects<T extends HasMetadata> implements ObjectGetter<T> {

    private final ObjectKind<T> kind;
    private final Map<ObjectKey, Fetched<T>> existing = new HashMap<>(); // guarded by this, like all that follows
    private final Map<ObjectKey, WatchEvent<T>> lastChanges = new HashMap<>();
    private final Map<ObjectKey, Long> changedAt = new HashMap<>();
    private final Map<ObjectKey, FailureReason> failures = new HashMap<>();
    private final Map<ObjectKey, List<Consumer<WatchEvent<T>>>> watches = new HashMap<>();
    private long version = 1;

    FakeObjects(ObjectKind<T> kind) {
        this.kind = kind;
    }

    /** Creates or replaces an object, and ends its failures. */
    void put(ObjectKey key, T object) {
        WatchEvent<T> change;
        synchronized (this) {
            Fetched<T> before = existing.get(key);
            Fetched<T> after = copy(object, ++version, before == null ? null : before.object());
            existing.put(key, after);
            change = new WatchEvent.Upserted<>(after);
            changedLocked(key, change);
        }
        tell(key, change);
    }

    /** Deletes an object, if there is one, and ends its failures. */
    void remove(ObjectKey key) {
        WatchEvent<T> change;
        synchronized (this) {
            Fetched<T> last = existing.remove(key);
            if (last == null) {
                failures.remove(key);
                return;
            }
            change = new WatchEvent.Deleted<>(copy(last.object(), ++version, last.object()));
            changedLocked(key, change);
        }
        tell(key, change);
    }

    private void changedLocked(ObjectKey key, WatchEvent<T> change) {
        lastChanges.put(key, change);
        changedAt.put(key, version);
        failures.remove(key);
    }

    /** Ends the watches of an object, and makes its requests fail. */
    void fail(ObjectKey key, FailureReason reason) {
        List<Consumer<WatchEvent<T>>> ended;
        synchronized (this) {
            failures.put(key, reason);
            ended = watches.remove(key);
        }
        if (ended != null) {
            ended.forEach(watch -> watch.accept(new WatchEvent.Ended<>(failure(key, reason))));
        }
    }

    private void tell(ObjectKey key, WatchEvent<T> change) {
        List<Consumer<WatchEvent<T>>> open;
        synchronized (this) {
            open = List.copyOf(watches.getOrDefault(key, List.of()));
        }
        open.forEach(watch -> watch.accept(change));
    }

    private Fetched<T> copy(T object, long newVersion, @Nullable T before) {
        T copy = ModelJson.copy(object, kind.model());
        copy.getMetadata().setResourceVersion(Long.toString(newVersion));
        if (copy.getMetadata().getUid() == null) {
            copy.getMetadata()
                    .setUid(
                            before == null
                                    ? UUID.randomUUID().toString()
                                    : before.getMetadata().getUid());
        }
        if (copy instanceof Secret secret) {
            completeSecret(secret);
        }
        int length = ModelJson.text(copy).getBytes(StandardCharsets.UTF_8).length;
        return new Fetched<>(copy, Long.toString(newVersion), length);
    }

    /** Moves {@code stringData} to the data and sets the default type, as a server does. */
    private static void completeSecret(Secret secret) {
        Map<String, String> plain = secret.getStringData();
        if (plain != null && !plain.isEmpty()) {
            Map<String, String> data = new HashMap<>();
            if (secret.getData() != null) {
                data.putAll(secret.getData());
            }
            Base64.Encoder base64 = Base64.getEncoder();
            plain.forEach((name, value) -> data.put(
                    name, base64.encodeToString((value == null ? "" : value).getBytes(StandardCharsets.UTF_8))));
            secret.setData(data);
        }
        secret.setStringData(new HashMap<>());
        if (secret.getType() == null || secret.getType().isEmpty()) {
            secret.setType("Opaque");
        }
    }

    private ApiServerException failure(ObjectKey key, FailureReason reason) {
        return ApiServerException.withoutAnswer(reason, kind + " " + key, "the test says so", null);
    }

    @Override
    public synchronized CompletableFuture<Fetched<T>> get(ObjectKey key, ReadSource source, Duration timeout) {
        FailureReason reason = failures.get(key);
        Fetched<T> object = existing.get(key);
        if (reason != null || object == null) {
            return CompletableFuture.failedFuture(failure(key, reason == null ? FailureReason.NOT_FOUND : reason));
        }
        return CompletableFuture.completedFuture(object);
    }

    private synchronized CompletableFuture<Listed<T>> list(ObjectKey key) {
        FailureReason reason = failures.get(key);
        if (reason != null) {
            return CompletableFuture.failedFuture(failure(key, reason));
        }
        Fetched<T> object = existing.get(key);
        List<Fetched<T>> items = object == null ? List.of() : List.of(object);
        return CompletableFuture.completedFuture(new Listed<>(items, Long.toString(version)));
    }

    private WatchHandle watch(ObjectKey key, String from, Consumer<WatchEvent<T>> events) {
        FailureReason reason;
        WatchEvent<T> missed;
        synchronized (this) {
            reason = failures.get(key);
            if (reason == null) {
                watches.computeIfAbsent(key, any -> new ArrayList<>()).add(events);
            }
            Fetched<T> object = existing.get(key);
            if (from.isEmpty()) {
                missed = object == null ? null : new WatchEvent.Upserted<>(object);
            } else {
                missed = changedAt.getOrDefault(key, 0L) > Long.parseLong(from) ? lastChanges.get(key) : null;
            }
        }
        if (reason != null) {
            events.accept(new WatchEvent.Ended<>(failure(key, reason)));
            return () -> {};
        }
        events.accept(new WatchEvent.Opened<>());
        if (missed != null) {
            events.accept(missed);
        }
        return () -> unwatch(key, events);
    }

    private synchronized void unwatch(ObjectKey key, Consumer<WatchEvent<T>> events) {
        List<Consumer<WatchEvent<T>>> open = watches.get(key);
        if (open != null && open.remove(events) && open.isEmpty()) {
            watches.remove(key);
        }
    }

    /** Returns the port that lists and watches one object. */
    ListerWatcher<T> byName(ObjectKey key) {
        return new ListerWatcher<>() {
            @Override
            public CompletableFuture<Listed<T>> list(Duration timeout) {
                return FakeObjects.this.list(key);
            }

            @Override
            public WatchHandle watch(String resourceVersion, Duration timeout, Consumer<WatchEvent<T>> events) {
                return FakeObjects.this.watch(key, resourceVersion, events);
            }

            @Override
            public String toString() {
                return kind.plural() + " with metadata.name=" + key.name();
            }
        };
    }
}
