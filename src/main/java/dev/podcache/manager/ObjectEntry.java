package dev.podcache.manager;

import dev.podcache.object.CacheState;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectState;
import dev.podcache.object.Referrer;
import dev.podcache.object.Usage;
import dev.podcache.store.KnownObject;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/** One object of a cache at one moment, without its content: its state, and who refers to it. Immutable. */
public final class ObjectEntry {

    private final ObjectKind<?> kind;
    private final ObjectKey key;
    private final ObjectState state;
    private final String uid;
    private final int bytes;
    private final String connection;
    private final Map<Referrer, Set<Usage>> usages;

    ObjectEntry(ObjectKind<?> kind, ObjectKey key, KnownObject<?> known, Map<Referrer, Set<Usage>> usages) {
        this.kind = kind;
        this.key = key;
        this.state = known.state();
        this.uid = known.object() instanceof HasMetadata object
                ? Objects.requireNonNullElse(object.getMetadata().getUid(), "")
                : "";
        this.bytes = known.bytes();
        this.connection = known.connection();
        this.usages = Map.copyOf(usages);
    }

    public ObjectKind<?> kind() {
        return kind;
    }

    public ObjectKey key() {
        return key;
    }

    /** Returns the state, which also says for how long an answer is fresh. */
    public ObjectState state() {
        return state;
    }

    public CacheState cacheState() {
        return state.cacheState();
    }

    /** Returns the version in memory, or "" if none is. */
    public String resourceVersion() {
        return state.resourceVersion();
    }

    /** Returns the UID of the object in memory, or "" if none is. */
    public String uid() {
        return uid;
    }

    /** Returns the time since the API server last confirmed what is held, if it has answered since the last new reference. */
    public Optional<Duration> age() {
        return Optional.ofNullable(state.age());
    }

    /** Returns why the latest attempt to read the object failed, if it did. */
    public Optional<Throwable> lastFailure() {
        return Optional.ofNullable(state.lastFailure());
    }

    /** Returns the size of the object as it was received, in bytes; 0 if it is not in memory. */
    public int bytes() {
        return bytes;
    }

    /**
     * Returns the connection that carries the watch of the object: the server and the number of the connection, such as
     * {@code https://10.0.0.1:6443 #3}. Empty if the object is not watched now.
     */
    public Optional<String> connection() {
        return connection.isEmpty() ? Optional.empty() : Optional.of(connection);
    }

    /** Returns the owners that are registered for the object; unmodifiable. */
    public Set<Referrer> referrers() {
        return usages.keySet();
    }

    /** Returns what {@code referrer} uses the object for; empty if its registration does not say. */
    public Set<Usage> usages(Referrer referrer) {
        return usages.getOrDefault(referrer, Set.of());
    }

    /** Returns kind, name, state and owners. */
    @Override
    public String toString() {
        return kind + " " + key + ": " + cacheState() + ", " + bytes + " bytes, " + usages.keySet();
    }
}
