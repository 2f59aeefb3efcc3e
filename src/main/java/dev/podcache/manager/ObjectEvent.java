package dev.podcache.manager;

import com.google.common.collect.ImmutableSet;
import dev.podcache.manager.Registrations.ReadHold;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.Referrer;
import java.util.Map;
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

    /** The holds of those referrers that have a subject, until the event is delivered. */
    final Map<Referrer, ReadHold> holds;

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
        RECOVERED,
        /**
         * An owner on behalf of a subject may not read the object any more, or its first review has said that it may not. Has
         * no content. The only event whose {@link ObjectEvent#referrers} may not read: it names the owner.
         */
        DENIED,
        /**
         * An owner that was denied may read the object from now on; {@link ObjectEvent#referrers} names it. If the object
         * exists, it is {@link ObjectEvent#current}, and no ADDED tells this owner of it. An owner whose first review allows it
         * gets ADDED instead, as an owner without a subject does.
         */
        ALLOWED
    }

    /** What events are about, so that a later event of an object replaces an earlier one. */
    enum Topic {
        CONTENT,
        STALENESS,
        RIGHT
    }

    ObjectEvent(
            ObjectKind<?> kind,
            ObjectKey key,
            Type type,
            @Nullable T previous,
            @Nullable T current,
            Set<Referrer> referrers,
            Map<Referrer, ReadHold> holds,
            boolean initial,
            Object life) {
        this.kind = kind;
        this.key = key;
        this.type = type;
        this.previous = previous;
        this.current = current;
        this.referrers = referrers;
        this.holds = holds;
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

    /**
     * Returns the owners that are registered for the object and may read it now; unmodifiable. Of {@link Type#DENIED}, the
     * owner that may not. An owner that reads on behalf of somebody is here as it was registered.
     */
    public Set<Referrer> referrers() {
        return referrers;
    }

    /** Returns whether this is the ADDED of an object that was known when the listener was subscribed. */
    public boolean initial() {
        return initial;
    }

    Topic topic() {
        return switch (type) {
            case ADDED, UPDATED, DELETED -> Topic.CONTENT;
            case STALE, RECOVERED -> Topic.STALENESS;
            case DENIED, ALLOWED -> Topic.RIGHT;
        };
    }

    /** Returns this event for some of its referrers, as it is delivered: it keeps nothing but what it shows. */
    ObjectEvent<T> deliveredTo(Set<Referrer> readers) {
        return new ObjectEvent<>(kind, key, type, previous, current, readers, Map.of(), initial, life);
    }

    /** Returns those referrers that this event may be delivered to now. */
    Set<Referrer> readersNow() {
        if (holds.isEmpty() || type == Type.DENIED) {
            return referrers;
        }
        return referrers.stream().filter(this::mayRead).collect(ImmutableSet.toImmutableSet());
    }

    private boolean mayRead(Referrer owner) {
        ReadHold hold = holds.get(owner);
        return hold == null || hold.isAllowed();
    }

    /** Returns one event for both: {@code earlier}, which may be null, and then this one. */
    ObjectEvent<T> after(@Nullable ObjectEvent<T> earlier) {
        if (earlier == null || topic() != Topic.CONTENT || earlier.life != life) {
            return this;
        }
        Type both = type == Type.DELETED ? Type.DELETED : earlier.type == Type.ADDED ? Type.ADDED : Type.UPDATED;
        boolean initialAdded = earlier.initial && both == Type.ADDED;
        return new ObjectEvent<>(kind, key, both, earlier.previous, current, referrers, holds, initialAdded, life);
    }

    /** Returns whether {@code earlier}, which may be null, and then this one are no change: the object came and went. */
    boolean undoes(@Nullable ObjectEvent<T> earlier) {
        return type == Type.DELETED && earlier != null && earlier.type == Type.ADDED && earlier.life == life;
    }

    /** Returns this event as that of an object that does not exist. */
    ObjectEvent<T> withoutObject() {
        return new ObjectEvent<>(kind, key, type, null, null, referrers, holds, initial, life);
    }

    /** Returns type and name, never the object: it may be a Secret. */
    @Override
    public String toString() {
        return type + " " + kind + " " + key;
    }
}
