package dev.podcache.store;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException.Closed;
import dev.podcache.object.ReadConsistency;
import dev.podcache.object.Referrer;
import dev.podcache.time.Durations;
import dev.podcache.time.RefCountedTicker;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Strategy WATCH: each referenced object is listed and watched by name, and the API server sends its changes.
 *
 * <p><b>Staleness.</b> While the watch is connected, an answer lags only by events in transit. While it is not, the
 * last known object is returned, and {@link #state} says STALE, since when and why. A watch that was lost or refused
 * resumes from the last version seen. FRESH means confirmed: after a loss, the state stays STALE until an event, a
 * bookmark or a list of the object confirms it. That list is made within two seconds after the new watch was accepted.
 * A watch that the server ends in an orderly way loses nothing and stays FRESH. While the API server's own watch cache
 * lags, an outdated object whose watch was never lost is FRESH: no client can detect this.
 *
 * <p><b>New references.</b> A reference to an object with a live watch makes no request. If the watch is closed, a new
 * reference reopens it and clears the held answer. If the watch is broken, a new reference reopens it too: gets wait as
 * for a first read, whatever fails meanwhile, and after the first-sync timeout return the last known object as stale.
 *
 * <p><b>First read.</b> A get without a held answer waits for the list and the watch, by default at most 1 s. Then it
 * fails with NotSynced, which carries their last failure.
 *
 * <p><b>Closed watches.</b> The watch of an immutable object is closed once the object is known. The watch of an object
 * that was not read for five minutes (configurable) is closed until the next get.
 *
 * <p><b>Evicted objects.</b> Over the {@link PayloadBudget}, the least used objects are evicted. The watch of an
 * evicted object stays open: its next change brings the object back. A get before that reopens the watch, and is
 * answered by a list that began after it.
 *
 * <p>Follows {@code objectCache} of the kubelet's {@code pkg/kubelet/util/manager/watch_based_manager.go}.
 *
 * @param <T> the model class
 */
public final class WatchObjectStore<T extends HasMetadata> implements ObservableStore<T>, AutoCloseable {

    /** The name of the strategy in metrics. */
    private static final String STRATEGY = "WATCH";

    // shared with entries and their sessions
    final ObjectKind<T> kind;
    final Function<ObjectKey, ListerWatcher<T>> byName;
    final ObjectGetter<T> getter;
    final StoreOptions options;
    final Transitions<T> transitions;
    final AtomicBoolean listRefused = new AtomicBoolean(); // set once the refusal was logged

    final WatchTimes times;
    final EntryTable<T, WatchEntry<T>> entries;

    private final @Nullable NamespaceWatches<T> namespaces; // null if each object has a watch of its own
    private final LatestReads<T> latestReads;
    private final WatchWarnings warnings;

    /**
     * The durations of this strategy. They are cut to a hundred years.
     *
     * @param firstSync the longest that a get waits for the first list and watch; zero for none that waits
     * @param idleAfter closes the watch of an object that was not read for this long, up to half this duration later;
     *     at least a minute
     */
    public record WatchTimes(Duration firstSync, Duration idleAfter) {

        /** One second, and five minutes: five times the kubelet's sync frequency. */
        public static final WatchTimes DEFAULT = new WatchTimes(Duration.ofSeconds(1), Duration.ofMinutes(5));

        /**
         * Checks both durations.
         *
         * @throws IllegalArgumentException if {@code firstSync} is negative or {@code idleAfter} is below a minute
         */
        public WatchTimes {
            firstSync = Durations.atLeast(Duration.ZERO, "firstSyncTimeout", firstSync);
            idleAfter = Durations.atLeast(Duration.ofMinutes(1), "idleAfter", idleAfter);
        }
    }

    /**
     * Makes an empty store.
     *
     * @param byName returns how to list and watch one object; called under a lock, so it must not make a request
     * @param getter reads objects that may be watched but not listed
     */
    public WatchObjectStore(
            ObjectKind<T> kind,
            Function<ObjectKey, ListerWatcher<T>> byName,
            ObjectGetter<T> getter,
            StoreOptions options,
            WatchTimes times) {
        this(kind, byName, null, getter, options, times);
    }

    private WatchObjectStore(
            ObjectKind<T> kind,
            Function<ObjectKey, ListerWatcher<T>> byName,
            @Nullable BiFunction<String, Predicate<String>, ListerWatcher<T>> inNamespace,
            ObjectGetter<T> getter,
            StoreOptions options,
            WatchTimes times) {
        this.kind = kind;
        this.byName = byName;
        this.getter = getter;
        this.options = options;
        this.times = times;
        this.namespaces = inNamespace == null ? null : new NamespaceWatches<>(this, inNamespace);
        this.warnings = new WatchWarnings(kind, now());
        this.latestReads = new LatestReads<>(this, STRATEGY);
        this.transitions = new Transitions<>(options);
        // an entry is idle if it is unread in two sweeps in a row
        RefCountedTicker sweeping =
                new RefCountedTicker(options.timekeeper(), times.idleAfter().dividedBy(2), this::sweep);
        this.entries = new EntryTable<>(kind, key -> new WatchEntry<>(key, this), sweeping::retain, sweeping::release);
    }

    /**
     * Makes an empty store that watches namespaces: one watch for all referenced objects of a namespace. A namespace
     * that may not be listed or watched falls back to a watch for each object.
     *
     * @param kind not cluster-scoped
     * @param inNamespace returns how to list and watch those objects of a namespace whose names the predicate accepts
     *     at the time they are received; its lists are quorum reads
     */
    public static <T extends HasMetadata> WatchObjectStore<T> ofNamespaces(
            ObjectKind<T> kind,
            Function<ObjectKey, ListerWatcher<T>> byName,
            BiFunction<String, Predicate<String>, ListerWatcher<T>> inNamespace,
            ObjectGetter<T> getter,
            StoreOptions options,
            WatchTimes times) {
        return new WatchObjectStore<>(kind, byName, inNamespace, getter, options, times);
    }

    boolean watchesNamespaces() {
        return namespaces != null;
    }

    /** Returns a new watch of an object, not open yet. Takes no lock. */
    ObjectWatch<T> watch(WatchEntry<T> entry) {
        return namespaces == null || namespaces.isRefused(entry.key.namespace())
                ? new WatchSession<>(entry, this)
                : new NamespaceMember<>(entry, namespaces);
    }

    private void sweep() {
        entries.forEach(WatchEntry::sweep);
    }

    @Override
    public void addReference(ObjectKey key, Referrer referrer) {
        entries.addReference(key, Objects.requireNonNull(referrer, "referrer"));
    }

    @Override
    public void deleteReference(ObjectKey key, Referrer referrer) {
        entries.deleteReference(key, Objects.requireNonNull(referrer, "referrer"));
    }

    @Override
    public T get(String namespace, String name) {
        T hit = ifHit(namespace, name);
        return hit == null ? new WatchGet<>(this, kind.validatedKey(namespace, name)).join() : hit;
    }

    @Override
    public @Nullable T ifHit(String namespace, String name) {
        WatchEntry<T> entry = entries.find(
                Objects.requireNonNull(namespace, "namespace is null: name the namespace of the object"),
                Objects.requireNonNull(name, "name is null: name the object"));
        return entry == null ? null : entry.ifKnown();
    }

    @Override
    public CompletableFuture<T> getAsync(String namespace, String name) {
        T hit = ifHit(namespace, name);
        return hit == null
                ? new WatchGet<>(this, kind.validatedKey(namespace, name)).async()
                : CompletableFuture.completedFuture(hit);
    }

    @Override
    public T get(String namespace, String name, ReadConsistency consistency) {
        ObjectKey key = kind.validatedKey(namespace, name);
        WatchEntry<T> entry = entries.find(namespace, name);
        if (entry == null) {
            throw entries.missingException(key);
        }
        Duration age = entry.state().age();
        // counts as a read, and opens a watch that was closed because there was none
        entry.touched = true;
        Answer<T> held = entry.lookup().answer();
        if (held != null && held.meets(consistency, age)) {
            return held.objectOf(kind, key);
        }
        missed(key);
        return latestReads.get(key).join();
    }

    void missed(ObjectKey key) {
        options.metrics().missed(kind, key, STRATEGY);
    }

    void staleServed(ObjectKey key) {
        options.metrics().staleServed(kind, key, STRATEGY);
    }

    @Override
    public ObjectState state(ObjectKey key) {
        WatchEntry<T> entry = entries.find(key.namespace(), key.name());
        return entry == null ? ObjectState.unknown(WatchState.DROPPED.freshness) : entry.state();
    }

    @Override
    public ObjectKind<T> kind() {
        return kind;
    }

    @Override
    public Timekeeper timekeeper() {
        return options.timekeeper();
    }

    @Override
    public Runnable observe(Consumer<ObjectKey> changed) {
        entries.requireOpen("no listener for objects of kind " + kind + " was subscribed");
        Runnable end = transitions.observe(changed);
        // opens the watches that were closed because their objects were not read
        sweep();
        return end;
    }

    @Override
    public @Nullable KnownObject<T> known(ObjectKey key) {
        WatchEntry<T> entry = entries.find(key.namespace(), key.name());
        return entry == null ? null : entry.known();
    }

    @Override
    public ChangeCounts changes() {
        return transitions.counts();
    }

    @Override
    public Set<ObjectKey> keys() {
        return entries.keys();
    }

    long now() {
        return options.timekeeper().nanoTime();
    }

    /** Reports a failed attempt to list or watch; {@code first} if the attempt before it had succeeded. */
    void failed(ObjectKey key, ApiServerException cause, boolean first) {
        options.metrics().watchFailed(kind, key, cause.reason());
        // an expired version needs no warning, because a list follows at once
        boolean logged = namespaces != null && namespaces.isRefusal(key.namespace(), cause);
        if (first && !logged && cause.reason() != FailureReason.EXPIRED) {
            warnings.failed(key, cause, now());
        }
    }

    /** Returns the number of referenced objects. */
    public int size() {
        return entries.size();
    }

    /** Drops all entries and closes all watches; waiting gets end with {@link Closed}. Idempotent. */
    @Override
    public void close() {
        latestReads.close();
        entries.close();
    }
}
