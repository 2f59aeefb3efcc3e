package dev.podcache.store;

import com.google.common.collect.ImmutableSet;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectState;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.ObjectUnavailableException.NotSynced;
import dev.podcache.object.ReadConsistency;
import dev.podcache.time.Durations;
import dev.podcache.time.RefCountedTicker;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Strategy WATCH: each referenced object is listed and watched by name, and the API server sends its changes.
 *
 * <p><b>Staleness.</b> While the watch is connected, an answer lags only by events in transit. While it is not, the
 * last known object is returned, and {@link #state} says STALE, since when and why. A watch that was lost or refused
 * resumes from the last version seen. FRESH means confirmed: after a loss, the state stays STALE until a
 * bookmark or a list of the object confirms it. That list is made within two seconds after the new watch was accepted.
 * An event does not: it may be the first of those that were missed.
 * A watch that the server ends in an orderly way loses nothing and stays FRESH. While the API server's own watch cache
 * lags, an outdated object whose watch was never lost is FRESH: no client can detect this.
 *
 * <p><b>New references.</b> A reference to an object with a live watch makes no request. If the watch is closed, a new
 * reference reopens it and clears the held answer. If the watch is broken, a new reference reopens it too: gets wait as
 * for a first read, whatever fails meanwhile, and after the first-sync timeout return the last known object as stale.
 *
 * <p><b>First read.</b> A get without a held answer waits for the list and the watch, by default at most 1 s after the
 * list was written to the server. To reach the server, a first attempt has 10 s: name lookup, connection, TLS,
 * credentials and class loading. Once an attempt has failed, or while the server answers no list or watch at all, the
 * timeout counts from the beginning of the get. A get whose time is over fails with NotSynced, which says what it waited
 * for and carries the last failure.
 *
 * <p><b>Closed watches.</b> The watch of an immutable object is closed once the object is known. The watch of an object
 * that was not read for five minutes (configurable) is closed until the next get.
 *
 * <p><b>Evicted objects.</b> Over the {@link PayloadBudget}, the least used objects are evicted. The watch of an
 * evicted object stays open: its next change brings the object back. Gets before that share one quorum read.
 *
 * <p><b>Refused objects.</b> A first read that is refused (403) is repeated as {@link EarlyRefusals} says, because access
 * may follow the reference. After that, a get asks the server again at once, but not within 250 ms of the last
 * refusal, and throws what it is told. A get within that time fails at once with the last refusal. A quorum read that
 * succeeds is kept, and has the failed watch opened again.
 *
 * <p>Follows {@code objectCache} of the kubelet's {@code pkg/kubelet/util/manager/watch_based_manager.go}.
 *
 * @param <T> the model class
 */
public final class WatchObjectStore<T extends HasMetadata> extends EntryStore<T> {

    /** The name of the strategy in metrics. */
    private static final String STRATEGY = "WATCH";

    // shared with entries and their watches
    final Function<ObjectKey, ListerWatcher<T>> byName;

    final WatchTimes times;
    final EntryTable<T, WatchEntry<T>> entries;

    private final @Nullable NamespaceWatches<T> namespaces; // null if each object has a watch of its own
    private final ObjectGetter<T> getter;
    private final AtomicBoolean listRefusalLogged = new AtomicBoolean();
    private final LatestReads<T> latestReads;
    private final Warnings warnings;

    /**
     * The durations of this strategy. They are cut to a hundred years.
     *
     * @param firstSync the longest that a get waits for the first list and watch once the list was written to the
     *     server; zero for none that waits
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
        super(kind, options);
        this.byName = byName;
        this.getter = getter;
        this.times = times;
        this.namespaces = inNamespace == null ? null : new NamespaceWatches<>(this, inNamespace);
        this.warnings = new Warnings(kind, now());
        this.latestReads = new LatestReads<>(this, STRATEGY);
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
    ObjectWatch watch(WatchEntry<T> entry) {
        return namespaces == null || namespaces.isRefused(entry.key.namespace())
                ? entry.new OwnWatch()
                : new NamespaceWatch.Member<>(entry, namespaces);
    }

    /** Returns what reads and watches an object by name, also where list is forbidden. Takes no lock. */
    ListOrGet<T> listOrGet(ObjectKey key) {
        return new ListOrGet<>(
                key, byName.apply(key), getter, options.timekeeper(), entries::isClosed, listRefusalLogged);
    }

    private void sweep() {
        entries.forEach(WatchEntry::sweep);
    }

    @Override
    EntryTable<T, WatchEntry<T>> entries() {
        return entries;
    }

    @Override
    public T get(String namespace, String name) {
        T hit = ifHit(namespace, name);
        return hit == null ? new WatchGet(kind.validatedKey(namespace, name)).join() : hit;
    }

    @Override
    public @Nullable T ifHit(String namespace, String name) {
        WatchEntry<T> entry = entries.find(
                Objects.requireNonNull(namespace, "namespace is null: name the namespace of the object"),
                Objects.requireNonNull(name, "name is null: name the object"));
        if (entry == null) {
            return null;
        }
        T hit = entry.ifKnown();
        // asked after the read: when this version came, only owners with a subject may have been left
        return entry.isRestricted() ? null : hit;
    }

    @Override
    public @Nullable T ifRestrictedHit(String namespace, String name) {
        WatchEntry<T> entry = entries.find(namespace, name);
        return entry == null ? null : entry.ifKnown();
    }

    @Override
    public CompletableFuture<T> getAsync(String namespace, String name) {
        T hit = ifHit(namespace, name);
        return hit == null
                ? new WatchGet(kind.validatedKey(namespace, name)).async()
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
        Answer<T> held = entry.reopen();
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
    public @Nullable KnownObject<T> known(ObjectKey key) {
        WatchEntry<T> entry = entries.find(key.namespace(), key.name());
        return entry == null ? null : entry.known();
    }

    @Override
    ObjectState notReferenced() {
        return ObjectState.unknown(WatchState.DROPPED.freshness);
    }

    @Override
    public Runnable observe(Consumer<ObjectKey> changed) {
        Runnable end = super.observe(changed);
        // opens the watches that were closed because their objects were not read
        sweep();
        return end;
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

    @Override
    public Set<ObjectKey> watched() {
        ImmutableSet.Builder<ObjectKey> selections = ImmutableSet.builder();
        entries.forEach(entry -> {
            ObjectKey selection = entry.watchedBy();
            if (selection != null) {
                selections.add(selection);
            }
        });
        return selections.build();
    }

    @Override
    public void revoked(ObjectKey selection, ApiServerException cause) {
        if (!selection.name().isEmpty()) {
            WatchEntry<T> entry = entries.find(selection.namespace(), selection.name());
            if (entry != null) {
                entry.revoked(cause);
            }
        } else if (namespaces != null) {
            namespaces.revoked(selection.namespace(), cause);
        }
    }

    @Override
    public void close() {
        latestReads.close();
        super.close();
    }

    /** A get that found no hit: waits for the next change of its entry, as long as the entry says. */
    private final class WatchGet extends PendingGet<T> {

        private final long begun = WatchObjectStore.this.now();
        private @Nullable CompletableFuture<@Nullable Answer<T>> change;
        private boolean missed;

        WatchGet(ObjectKey key) {
            super(WatchObjectStore.this.kind, key, options);
        }

        @Override
        @Nullable
        T proceed(boolean inTime) {
            Answer<T> current = change == null ? null : change.getNow(null);
            if (current != null) {
                return serve(current, false, null);
            }
            while (true) {
                WatchEntry<T> found = entries.find(key.namespace(), key.name());
                WatchEntry.WatchLookup<T> lookup = found == null ? null : found.lookup(begun, change == null);
                if (!missed && (lookup == null || !(lookup.answer() instanceof Answer.Present))) {
                    missed = true;
                    missed(key);
                }
                if (found == null || lookup == null) {
                    throw entries.missingException(key);
                }
                if (lookup.dropped()) {
                    entries.remove(found);
                } else if (lookup.answer() != null) {
                    return serve(lookup.answer(), lookup.stale(), lookup.failure());
                } else if (lookup.change() == null) {
                    return afterWait(found, lookup);
                } else {
                    change = lookup.change();
                    return waitFor(change, lookup.until());
                }
            }
        }

        private T afterWait(WatchEntry<T> found, WatchEntry.WatchLookup<T> lookup) {
            Answer<T> fallback = found.answerAfterTimeout();
            if (fallback == null) {
                throw notSynced(lookup.failure(), lookup.reached());
            }
            return serve(fallback, true, lookup.failure());
        }

        private T serve(Answer<T> answer, boolean stale, @Nullable ApiServerException failedCheck) {
            if (answer instanceof Answer.Present<T> present) {
                if (stale) {
                    staleServed(key);
                }
                return present.object;
            }
            // what nobody confirms must not look confirmed because the check is slow instead of failing
            throw new NotFound(kind, key, stale && failedCheck == null ? notSynced(null, true) : failedCheck);
        }

        private NotSynced notSynced(@Nullable ApiServerException failure, boolean reached) {
            if (!reached) {
                return new NotSynced(kind, key, FailureReason.UNAVAILABLE, WatchEntry.timeToReach(times), null);
            }
            // a get of a refused object does not wait for so long
            boolean early = now() - begun < times.firstSync().toNanos();
            FailureReason reason = failure == null ? FailureReason.TIMEOUT : failure.reason();
            return new NotSynced(kind, key, reason, early ? Duration.ZERO : times.firstSync(), failure);
        }
    }

    /**
     * Logs watches that begin to fail, at most one every 10 s: a lost connection loses hundreds of watches. Thread-safe.
     */
    private static final class Warnings {

        private static final Logger log = LoggerFactory.getLogger(WatchObjectStore.class);
        private static final long INTERVAL = Duration.ofSeconds(10).toNanos();

        private final ObjectKind<?> kind;
        private final AtomicLong nextAt;
        private final AtomicInteger unreported = new AtomicInteger(); // failures since the last warning

        Warnings(ObjectKind<?> kind, long now) {
            this.kind = kind;
            this.nextAt = new AtomicLong(now);
        }

        /** Reports that a watch failed whose last attempt had succeeded. */
        void failed(ObjectKey key, ApiServerException cause, long now) {
            long due = nextAt.get();
            if (now - due >= 0 && nextAt.compareAndSet(due, now + INTERVAL)) {
                int others = unreported.getAndSet(0);
                String more = others == 0 ? "" : "; " + others + " more have failed since the last warning";
                log.warn("watch of {} {} failed; retrying: {}{}", kind, key, cause.getMessage(), more);
            } else {
                unreported.incrementAndGet();
            }
        }
    }
}
