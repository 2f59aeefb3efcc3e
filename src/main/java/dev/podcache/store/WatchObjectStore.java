package dev.podcache.store;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException.Closed;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.ObjectUnavailableException.NotSynced;
import dev.podcache.object.Referrer;
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
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Strategy WATCH: each referenced object has a list and a watch of its own, by name, and the
 * API server sends what changes.
 *
 * <p><b>Staleness.</b> While the watch is connected, an answer is as old as the news is under way. While it is not, the
 * last known object keeps being served, and {@link #state} says STALE, since when and why. A watch that was lost, or
 * refused, is resumed where it was. FRESH means confirmed: the state stays STALE until an event, a bookmark or a list of
 * the object, made within two seconds after the watch was accepted, shows what it missed. A watch that the server ends
 * in good order loses nothing and stays FRESH. While the API server's own watch cache is behind, an object whose watch
 * was never lost is FRESH although outdated: only the server could tell.
 *
 * <p><b>New references.</b> One that joins a live watch makes no request: it sees what the watch has brought so far. One
 * that finds the watch closed opens it anew, and forgets what was known. One that finds it broken opens it anew, too:
 * gets wait as for a first read, whatever fails meanwhile, and after the first-sync timeout are served what was known,
 * as stale.
 *
 * <p><b>First read.</b> A get that finds nothing waits for the list and the watch, by default at most 1 s, and
 * otherwise fails with NotSynced, which carries their last failure.
 *
 * <p><b>Watches that are not needed.</b> An immutable object is not watched once it is known. One that was not read
 * for five minutes, or as configured, is not watched until the next get.
 *
 * <p>Follows {@code objectCache} of the kubelet's {@code pkg/kubelet/util/manager/watch_based_manager.go}.
 *
 * @param <T> the model class
 */
public final class WatchObjectStore<T extends HasMetadata> implements ObservableStore<T>, AutoCloseable {

    /** The strategy as metrics name it. */
    private static final String STRATEGY = "WATCH";

    private static final Logger log = LoggerFactory.getLogger(WatchObjectStore.class);
    private static final Duration QUIET = Duration.ofSeconds(10);

    // what entries and their sessions share
    final ObjectKind<T> kind;
    final Function<ObjectKey, ListerWatcher<T>> byName;
    final ObjectGetter<T> getter;
    final StoreOptions options;
    final Transitions<T> transitions;
    final AtomicBoolean listRefused = new AtomicBoolean(); // and the log says so

    private final WatchTimes times;
    private final EntryTable<T, WatchEntry<T>> entries;
    private final AtomicLong nextWarning;
    private final AtomicInteger unreported = new AtomicInteger(); // failures since the last warning

    /**
     * The durations of this strategy. What is longer than a hundred years is cut to that.
     *
     * @param firstSync the longest that a get waits for list and watch; positive
     * @param idleAfter closes the watch of an object that was not read for this long, at most half as long again later;
     *     at least a minute
     */
    public record WatchTimes(Duration firstSync, Duration idleAfter) {

        /** A second, and five minutes: five times the kubelet's sync frequency. */
        public static final WatchTimes DEFAULT = new WatchTimes(Duration.ofSeconds(1), Duration.ofMinutes(5));

        /**
         * Checks both.
         *
         * @throws IllegalArgumentException if {@code firstSync} is not positive or {@code idleAfter} below a minute
         */
        public WatchTimes {
            firstSync = Durations.positive("firstSyncTimeout", firstSync);
            idleAfter = Durations.atLeast(Duration.ofMinutes(1), "idleAfter", idleAfter);
        }
    }

    /**
     * An empty store.
     *
     * @param byName how to list and watch one object; called under a lock, so it makes no request itself
     * @param getter reads objects that may be watched but not listed
     */
    public WatchObjectStore(
            ObjectKind<T> kind,
            Function<ObjectKey, ListerWatcher<T>> byName,
            ObjectGetter<T> getter,
            StoreOptions options,
            WatchTimes times) {
        this.kind = kind;
        this.byName = byName;
        this.getter = getter;
        this.options = options;
        this.times = times;
        this.nextWarning = new AtomicLong(now());
        // a watch that is live tells nothing again: what a budget took would be missing until the next change
        this.transitions = new Transitions<>(kind, options.unbounded());
        // an entry is idle when two sweeps in a row found it unread
        RefCountedTicker sweeping =
                new RefCountedTicker(options.timekeeper(), times.idleAfter().dividedBy(2), this::sweep);
        this.entries = new EntryTable<>(kind, key -> new WatchEntry<>(key, this), sweeping::retain, sweeping::release);
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
        WatchEntry<T> entry = entries.find(
                Objects.requireNonNull(namespace, "namespace is null: name the namespace of the object"),
                Objects.requireNonNull(name, "name is null: name the object"));
        if (entry != null) {
            T hit = entry.ifKnown();
            if (hit != null) {
                return hit;
            }
        }
        return miss(kind.validatedKey(namespace, name));
    }

    private T miss(ObjectKey key) {
        long deadline = now() + times.firstSync().toNanos();
        boolean missed = false;
        while (true) {
            WatchEntry<T> entry = entries.find(key.namespace(), key.name());
            WatchEntry.WatchLookup<T> found = entry == null ? null : entry.lookup();
            if (!missed && (found == null || !(found.answer() instanceof Answer.Present))) {
                missed = true;
                options.metrics().missed(kind, key, STRATEGY);
            }
            if (entry == null || found == null) {
                throw entries.whyNone(key);
            }
            if (found.dropped()) {
                entries.remove(entry);
            } else if (found.answer() != null) {
                return serve(key, found.answer(), found.stale(), found.failure());
            } else if (!changes(key, Objects.requireNonNull(found.change()), deadline)) {
                return giveUp(key, entry);
            }
        }
    }

    private boolean changes(ObjectKey key, CompletableFuture<Void> change, long deadline) {
        Duration left = Duration.ofNanos(deadline - now());
        return !left.isNegative() && options.await(change, left, kind, key);
    }

    private T giveUp(ObjectKey key, WatchEntry<T> entry) {
        Answer<T> fallback = entry.giveUp();
        if (fallback == null) {
            throw new NotSynced(kind, key, times.firstSync(), entry.lastFailure());
        }
        return serve(key, fallback, true, entry.lastFailure());
    }

    private T serve(ObjectKey key, Answer<T> answer, boolean stale, @Nullable Throwable failedCheck) {
        if (answer instanceof Answer.Present<T> present) {
            if (stale) {
                options.metrics().staleServed(kind, key, STRATEGY);
            }
            return present.object;
        }
        throw new NotFound(kind, key, failedCheck);
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
    public Runnable observe(Consumer<ObjectKey> changed) {
        Runnable end = transitions.observe(changed);
        // from now on no watch is closed because its object is not read
        entries.forEach(WatchEntry::reopen);
        return end;
    }

    @Override
    public @Nullable Known<T> known(ObjectKey key) {
        WatchEntry<T> entry = entries.find(key.namespace(), key.name());
        return entry == null ? null : entry.known();
    }

    @Override
    public Set<ObjectKey> keys() {
        return entries.keys();
    }

    long now() {
        return options.timekeeper().nanoTime();
    }

    /** Reports that an attempt to list or watch failed; {@code first} if the one before it had not. */
    void failed(ObjectKey key, ApiServerException cause, boolean first) {
        options.metrics().watchFailed(kind, key, cause.reason());
        // a forgotten version needs no warning: a list follows at once
        if (!first || cause.reason() == FailureReason.EXPIRED) {
            return;
        }
        // one lost connection is hundreds of lost watches: one line says it
        long now = now();
        long due = nextWarning.get();
        if (now - due >= 0 && nextWarning.compareAndSet(due, now + QUIET.toNanos())) {
            int others = unreported.getAndSet(0);
            String more = others == 0 ? "" : "; " + others + " more have failed since the last warning";
            log.warn("watch of {} {} failed; retrying: {}{}", kind, key, cause.getMessage(), more);
        } else {
            unreported.incrementAndGet();
        }
    }

    /** Returns how many objects are held. */
    public int size() {
        return entries.size();
    }

    /** Drops everything and closes all watches; gets that wait end with {@link Closed}. Idempotent. */
    @Override
    public void close() {
        entries.close();
    }
}
