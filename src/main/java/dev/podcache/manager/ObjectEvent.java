package dev.podcache.manager;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.Referrer;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A change of what is known of one object, for a listener; see {@link Manager#listen}. Immutable.
 *
 * @param <T> the model class
 */
public final class ObjectEvent<T> {

    private final ObjectKind<?> kind;
    private final ObjectKey key;
    private final Type type;
    private final @Nullable T previous;
    private final @Nullable T current;
    private final Set<Referrer> referrers;
    private final boolean initial;

    /** Identifies the time from the first reference to the last, in which the event was made. */
    final Object life;

    /** What has changed. */
    public enum Type {
        /** The object exists; it did not, or nothing was known of it. */
        ADDED,
        /** The object was replaced by a newer version of it. */
        UPDATED,
        /** The object does not exist any more. */
        DELETED,
        /** Nothing confirms any more that what is known is up to date: the watch is lost, or a refresh failed. */
        STALE,
        /** What is known is up to date again. */
        RECOVERED
    }

    ObjectEvent(
            ObjectKind<?> kind,
            ObjectKey key,
            Type type,
            @Nullable T previous,
            @Nullable T current,
            Set<Referrer> referrers,
            boolean initial,
            Object life) {
        this.kind = kind;
        this.key = key;
        this.type = type;
        this.previous = previous;
        this.current = current;
        this.referrers = referrers;
        this.initial = initial;
        this.life = life;
    }

    public ObjectKind<?> kind() {
        return kind;
    }

    public ObjectKey key() {
        return key;
    }

    public Type type() {
        return type;
    }

    /**
     * Returns the object before the change. Empty if there was none, or if it is no longer in memory: it was evicted,
     * or a new reference has cleared it.
     */
    public Optional<T> previous() {
        return Optional.ofNullable(previous);
    }

    /** Returns the object as it is known now; empty if it does not exist. Shared: must not be modified. */
    public Optional<T> current() {
        return Optional.ofNullable(current);
    }

    /** Returns the owners that were registered for the object when the event was made; unmodifiable. */
    public Set<Referrer> referrers() {
        return referrers;
    }

    /** Returns whether this is the ADDED of an object that was known when the listener was subscribed. */
    public boolean initial() {
        return initial;
    }

    /** Returns whether this says that the known object became stale or is up to date again, and not that it changed. */
    boolean isStaleness() {
        return type == Type.STALE || type == Type.RECOVERED;
    }

    /** Returns one event for both: {@code earlier}, which may be null, and then this one. */
    ObjectEvent<T> after(@Nullable ObjectEvent<T> earlier) {
        if (earlier == null || isStaleness() || earlier.life != life) {
            return this;
        }
        Type both = type == Type.DELETED ? Type.DELETED : earlier.type == Type.ADDED ? Type.ADDED : Type.UPDATED;
        boolean initialAdded = earlier.initial && both == Type.ADDED;
        return new ObjectEvent<>(kind, key, both, earlier.previous, current, referrers, initialAdded, life);
    }

    /** Returns type and name, never the object: it may be a Secret. */
    @Override
    public String toString() {
        return type + " " + kind + " " + key;
    }
}
