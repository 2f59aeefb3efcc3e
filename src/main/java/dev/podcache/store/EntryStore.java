package dev.podcache.store;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectState;
import dev.podcache.object.ObjectUnavailableException.Closed;
import dev.podcache.object.Referrer;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A store that keeps an entry for each referenced object. The strategies differ in how an entry is kept fresh.
 * Thread-safe.
 *
 * @param <T> the model class
 */
public abstract sealed class EntryStore<T extends HasMetadata> implements Store<T>, AutoCloseable
        permits TtlObjectStore, WatchObjectStore {

    /*
     * Hits are not here. Each store has its own get, getAsync and ifHit, and its own field for the table: a call or a
     * field of this class would be shared by both strategies, and the compiler inlines what has one target.
     */

    // shared with entries and gets
    final ObjectKind<T> kind;
    final StoreOptions options;
    final Transitions<T> transitions;

    EntryStore(ObjectKind<T> kind, StoreOptions options) {
        this.kind = kind;
        this.options = options;
        this.transitions = new Transitions<>(options);
    }

    /** Returns the table; always the same. */
    abstract EntryTable<T, ? extends Entry<T>> entries();

    /** Returns the state of an object that is not referenced. */
    abstract ObjectState notReferenced();

    final long now() {
        return options.timekeeper().nanoTime();
    }

    /** Returns whether an object has an entry, which may just have been dropped. */
    final boolean holds(ObjectKey key) {
        return entries().find(key.namespace(), key.name()) != null;
    }

    @Override
    public final ObjectKind<T> kind() {
        return kind;
    }

    @Override
    public final Timekeeper timekeeper() {
        return options.timekeeper();
    }

    @Override
    public final void addReference(ObjectKey key, Referrer referrer, Consumer<Runnable> effects) {
        entries().addReference(key, Objects.requireNonNull(referrer, "referrer"), effects);
    }

    @Override
    public final void deleteReference(ObjectKey key, Referrer referrer, Consumer<Runnable> effects) {
        entries().deleteReference(key, Objects.requireNonNull(referrer, "referrer"), effects);
    }

    @Override
    public final ObjectState state(ObjectKey key) {
        KnownObject<T> known = known(key);
        return known == null ? notReferenced() : known.state();
    }

    @Override
    public final boolean isRestricted(String namespace, String name) {
        Entry<T> entry = entries().find(namespace, name);
        return entry != null && entry.isRestricted();
    }

    @Override
    public final void requireFree(String namespace, String name) {
        Entry<T> entry = entries().find(namespace, name);
        if (entry == null || entry.isRestricted()) {
            throw entries().missingException(ObjectKey.of(namespace, name));
        }
    }

    @Override
    public final Set<ObjectKey> keys() {
        return entries().keys();
    }

    /** Returns the number of referenced objects. */
    public final int size() {
        return entries().size();
    }

    @Override
    public final ChangeCounts changes() {
        return transitions.counts();
    }

    @Override
    public Runnable observe(Consumer<ObjectKey> changed) {
        entries().requireOpen("no listener for objects of kind " + kind + " was subscribed");
        return transitions.observe(changed, true);
    }

    @Override
    public final Runnable observePassively(Consumer<ObjectKey> changed) {
        return transitions.observe(changed, false);
    }

    @Override
    public abstract @Nullable KnownObject<T> known(ObjectKey key);

    /** Drops all entries and ends what keeps them fresh; waiting gets end with {@link Closed}. Idempotent. */
    @Override
    public void close() {
        entries().close();
    }
}
