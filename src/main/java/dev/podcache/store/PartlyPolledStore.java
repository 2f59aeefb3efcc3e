package dev.podcache.store;

import com.google.common.collect.ImmutableSet;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectState;
import dev.podcache.object.ReadConsistency;
import dev.podcache.object.Referrer;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Strategy WATCH for most objects, and CACHE for those that many clients share, because each watch of an object makes
 * its updates more expensive for the API server. Thread-safe.
 *
 * @param <T> the model class
 */
public final class PartlyPolledStore<T extends HasMetadata> implements Store<T>, AutoCloseable {

    private final WatchObjectStore<T> watched;
    private final TtlObjectStore<T> polled;
    private final Predicate<ObjectKey> isPolled;

    /**
     * Makes a store that consists of two.
     *
     * @param isPolled returns whether {@code polled} holds an object; always the same for an object
     */
    public PartlyPolledStore(WatchObjectStore<T> watched, TtlObjectStore<T> polled, Predicate<ObjectKey> isPolled) {
        this.watched = watched;
        this.polled = polled;
        this.isPolled = isPolled;
    }

    /** Returns the store that holds an object. Does not ask the user's predicate, which may throw. */
    private EntryStore<T> storeOf(ObjectKey key) {
        return polled.holds(key) ? polled : watched;
    }

    private EntryStore<T> storeOf(String namespace, String name) {
        return storeOf(kind().validatedKey(namespace, name));
    }

    @Override
    public ObjectKind<T> kind() {
        return watched.kind();
    }

    @Override
    public Timekeeper timekeeper() {
        return watched.timekeeper();
    }

    @Override
    public void addReference(ObjectKey key, Referrer referrer, Consumer<Runnable> effects) {
        Store<T> chosen = isPolled.test(key) ? polled : watched;
        chosen.addReference(key, referrer, effects);
    }

    @Override
    public void deleteReference(ObjectKey key, Referrer referrer, Consumer<Runnable> effects) {
        storeOf(key).deleteReference(key, referrer, effects);
    }

    @Override
    public T get(String namespace, String name) {
        T hit = ifHit(namespace, name);
        return hit == null ? storeOf(namespace, name).get(namespace, name) : hit;
    }

    @Override
    public T get(String namespace, String name, ReadConsistency consistency) {
        return storeOf(namespace, name).get(namespace, name, consistency);
    }

    @Override
    public CompletableFuture<T> getAsync(String namespace, String name) {
        return storeOf(namespace, name).getAsync(namespace, name);
    }

    /** Looks in both stores: that costs a hit less than to ask which of them holds the object. */
    @Override
    public @Nullable T ifHit(String namespace, String name) {
        T hit = watched.ifHit(namespace, name);
        return hit == null ? polled.ifHit(namespace, name) : hit;
    }

    @Override
    public @Nullable T ifRestrictedHit(String namespace, String name) {
        T hit = watched.ifRestrictedHit(namespace, name);
        return hit == null ? polled.ifRestrictedHit(namespace, name) : hit;
    }

    @Override
    public boolean isRestricted(String namespace, String name) {
        return watched.isRestricted(namespace, name) || polled.isRestricted(namespace, name);
    }

    @Override
    public void requireFree(String namespace, String name) {
        storeOf(namespace, name).requireFree(namespace, name);
    }

    @Override
    public ObjectState state(ObjectKey key) {
        return storeOf(key).state(key);
    }

    @Override
    public Runnable observe(Consumer<ObjectKey> changed) {
        return both(watched.observe(changed), polled.observe(changed));
    }

    @Override
    public Runnable observePassively(Consumer<ObjectKey> changed) {
        return both(watched.observePassively(changed), polled.observePassively(changed));
    }

    private static Runnable both(Runnable first, Runnable second) {
        return () -> {
            first.run();
            second.run();
        };
    }

    @Override
    public @Nullable KnownObject<T> known(ObjectKey key) {
        return storeOf(key).known(key);
    }

    @Override
    public Set<ObjectKey> watched() {
        return watched.watched();
    }

    @Override
    public void revoked(ObjectKey selection, ApiServerException cause) {
        watched.revoked(selection, cause);
    }

    @Override
    public ChangeCounts changes() {
        return watched.changes().plus(polled.changes());
    }

    @Override
    public Set<ObjectKey> keys() {
        return ImmutableSet.<ObjectKey>builder()
                .addAll(watched.keys())
                .addAll(polled.keys())
                .build();
    }

    /** Closes both stores. Idempotent. */
    @Override
    public void close() {
        watched.close();
        polled.close();
    }
}
