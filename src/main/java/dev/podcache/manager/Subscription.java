package dev.podcache.manager;

import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Maps;
import com.google.common.collect.Sets;
import dev.podcache.manager.Registrations.ReadHold;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.Referrer;
import dev.podcache.store.KnownObject;
import dev.podcache.store.Store;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One listener of one manager. Compares what is known of each object with what the listener was told last, on the
 * listener's executor, and reports the difference.
 */
final class Subscription<T> implements AutoCloseable {

    /*
     * The store only says that an object may have changed. So nothing is queued: however many changes come while the
     * listener is at work, the next comparison finds the last one. An object has a line here, which runs on the
     * executor one task at a time: events of one object are in order, and never two at once.
     *
     * An event is made under the monitor of its line, and delivered without it, if until then neither the subscription
     * was closed nor the object dropped. Dropping and closing end what was made before (`generation`). Under the
     * monitor nothing of the store is called.
     *
     * An object that is dropped and referenced again has another life. What the store says may be late: the object may
     * have begun another life by then. So the life of a line is read before the store is asked, and the answer changes it
     * only if it is still the same.
     *
     * Owners with a subject. An event with content is for those owners who may read the object when it is made, and again
     * when it is delivered. `told` has, for each owner with a subject, what the listener knows of its right:
     *
     * right     the first review allows     denies    another hold, not reviewed yet
     * ------------------------------------------------------------------------------
     * UNKNOWN   ALLOWED: ADDED              DENIED    -
     * ALLOWED   -                           DENIED    DENIED
     * DENIED    ALLOWED, with the object    -         -
     *
     * An owner that cannot read any more when an event is delivered is told DENIED instead. It may be allowed again before
     * the next look: that one must find what it was told.
     *
     * So an owner that is allowed from the beginning sees what an owner without a subject sees. Owners who could read at the
     * last look and can read now get what has changed; no other gets what was before. While nobody can read, the line knows
     * nothing of the object: to the next one who can, it is new.
     */

    private static final Logger log = LoggerFactory.getLogger(Manager.class);

    private final ObjectKind<?> kind;
    private final StoreManager<T> manager;
    private final Store<T> store;
    private final Executor executor;
    private final Consumer<ObjectEvent<T>> listener;
    private final boolean gathers; // whether the listener is a GatheredEvents, which delivers later
    private final Map<ObjectKey, Line> lines = new ConcurrentHashMap<>();
    private volatile boolean closed;
    private volatile @Nullable Runnable unobserve;

    private Subscription(
            StoreManager<T> manager, Executor executor, Consumer<ObjectEvent<T>> listener, boolean gathers) {
        this.manager = manager;
        this.store = manager.store;
        this.kind = store.kind();
        this.executor = executor;
        this.listener = listener;
        this.gathers = gathers;
    }

    /** Subscribes a listener, and reports every object that is known. */
    static <T> Subscription<T> open(StoreManager<T> manager, Executor executor, Consumer<ObjectEvent<T>> listener) {
        return open(new Subscription<>(manager, executor, listener, false));
    }

    /**
     * Subscribes a listener that keeps events, on the thread that reports a change. They come with the holds of their
     * owners.
     */
    static <T> Subscription<T> openGathering(StoreManager<T> manager, Consumer<ObjectEvent<T>> listener) {
        return open(new Subscription<>(manager, Runnable::run, listener, true));
    }

    private static <T> Subscription<T> open(Subscription<T> subscription) {
        StoreManager<T> manager = subscription.manager;
        Store<T> store = subscription.store;
        Runnable unobserveStore = store.observe(subscription::changed);
        Runnable unobserveRights = manager.observeRights(subscription::changed);
        subscription.unobserve = () -> {
            unobserveStore.run();
            unobserveRights.run();
        };
        if (subscription.closed) {
            // by an executor that refused the event of a change meanwhile
            subscription.close();
        }
        store.keys().forEach(key -> subscription.changed(key, true));
        return subscription;
    }

    private void changed(ObjectKey key) {
        changed(key, false);
    }

    private void changed(ObjectKey key, boolean subscribing) {
        Line line = lines.get(key);
        Object before = line == null ? null : line.life();
        KnownObject<T> known = store.known(key);
        if (known != null) {
            mark(key, before, known.life(), subscribing);
        } else if (line != null) {
            line.dropped(before);
        }
    }

    private void mark(ObjectKey key, @Nullable Object before, Object life, boolean subscribing) {
        boolean marked = closed;
        while (!marked) {
            marked = lines.computeIfAbsent(key, Line::new).mark(before, life, subscribing);
        }
    }

    /** Ends the events: none is taken for delivery after this has returned. One that was may still come. Idempotent. */
    @Override
    public void close() {
        closed = true;
        Runnable end = unobserve;
        if (end != null) {
            end.run();
        }
        lines.values().forEach(Line::end);
    }

    /** What is known of the right of an owner to read an object. */
    private enum RightState {
        UNKNOWN,
        ALLOWED,
        DENIED
    }

    /** What a listener knows of the right of an owner with a subject, and by which hold. */
    private record ToldRight(ReadHold hold, RightState right) {}

    /**
     * Owners who can read, and could not before.
     *
     * @param added those to which the object is new
     * @param allowed those that ALLOWED tells of the object
     */
    private record Admitted(Set<Referrer> added, Set<Referrer> allowed) {

        static final Admitted NONE = new Admitted(Set.of(), Set.of());

        Set<Referrer> all() {
            return Sets.union(added, allowed).immutableCopy();
        }
    }

    /**
     * The owners of one object at one moment.
     *
     * @param readers those who may read it
     * @param holders those with a subject
     */
    private record Owners(Set<Referrer> readers, Map<Referrer, ToldRight> holders) {

        static final Owners NONE = new Owners(Set.of(), Map.of());

        Map<Referrer, ReadHold> holds() {
            return holders.isEmpty() ? Map.of() : Map.copyOf(Maps.transformValues(holders, ToldRight::hold));
        }
    }

    /** What the listener knows of one object. */
    private final class Line implements Runnable {

        private final ObjectKey key;
        private @Nullable Object life; // guarded by this, like all that follows
        private boolean scheduled;
        private boolean changed;
        private boolean removed;
        private boolean subscribing; // the object was there when the listener was subscribed
        private int generation;

        private boolean reported;
        private boolean exists;
        private boolean stale;
        private @Nullable T object;
        private String version = "";
        private @Nullable Map<Referrer, ToldRight> told; // null before the first look

        Line(ObjectKey key) {
            this.key = key;
        }

        synchronized @Nullable Object life() {
            return life;
        }

        /**
         * Has the object be looked at; returns false if this line is not in use any more.
         *
         * @param before {@link #life} before the store was asked for the present one
         */
        boolean mark(@Nullable Object before, Object now, boolean atSubscription) {
            synchronized (this) {
                if (removed) {
                    return false;
                }
                if (life == null || life == before) {
                    adoptLocked(now);
                }
                changed = true;
                subscribing |= atSubscription && !reported;
                if (scheduled) {
                    return true;
                }
                scheduled = true;
            }
            execute();
            return true;
        }

        private void execute() {
            try {
                executor.execute(this);
            } catch (Throwable e) {
                // whatever it throws must not reach the thread that reported the change: a reflector's, or
                // registerPod's
                log.warn(
                        "the executor of a listener for objects of kind {} did not take a task; the listener is closed",
                        kind,
                        e);
                close();
            }
        }

        /** Ends the events of one life of the object. */
        synchronized void dropped(@Nullable Object ended) {
            if (life == ended) {
                end();
            }
        }

        private void adoptLocked(@Nullable Object now) {
            if (life != now) {
                forget();
                life = now;
            }
        }

        /** Ends the events of the object's present life. */
        synchronized void end() {
            forget();
            life = null;
            if (!scheduled) {
                remove();
            }
        }

        private void forget() {
            generation++;
            reported = false;
            exists = false;
            stale = false;
            subscribing = false;
            object = null;
            version = "";
            told = null;
        }

        private void remove() {
            removed = true;
            lines.remove(key, this);
        }

        @Override
        public void run() {
            boolean over = false;
            try {
                while (mayLook()) {
                    look();
                }
                over = true;
            } finally {
                if (!over) {
                    // the next change has the object looked at again
                    synchronized (this) {
                        scheduled = false;
                    }
                }
            }
        }

        private void look() {
            Object before = life();
            KnownObject<T> now = store.known(key);
            Owners owners = now == null ? Owners.NONE : ownersOf(now);
            int seen;
            List<ObjectEvent<T>> events;
            synchronized (this) {
                if (before != null && life == before) {
                    // it was marked late: with a life that was over
                    adoptLocked(now == null ? null : now.life());
                }
                seen = generation;
                events = now == null || now.life() != life ? List.of() : eventsLocked(now, owners);
            }
            events.forEach(event -> deliver(event, seen));
        }

        private Owners ownersOf(KnownObject<T> now) {
            if (now.restricted().isEmpty() && now.referrers().stream().noneMatch(Referrer::isOnBehalf)) {
                return new Owners(now.referrers(), Map.of());
            }
            ImmutableSet.Builder<Referrer> readers = ImmutableSet.builder();
            Map<Referrer, ToldRight> holders = new LinkedHashMap<>();
            for (Referrer reference : now.referrers()) {
                // the store knows an owner as it was registered first: it may have lost its subject, or got another one
                Referrer owner = manager.registered(reference);
                if (!now.restricted().contains(reference) && !owner.isOnBehalf()) {
                    readers.add(owner);
                    continue;
                }
                Registrations.Holder holder = manager.holder(reference, key);
                if (holder != null && !holder.owner().isOnBehalf()) {
                    readers.add(holder.owner()); // it has lost its subject since the references were read
                } else if (holder != null) {
                    ReadHold hold = holder.hold();
                    boolean allowed = hold.isAllowed();
                    RightState right =
                            allowed ? RightState.ALLOWED : hold.isDecided() ? RightState.DENIED : RightState.UNKNOWN;
                    holders.put(holder.owner(), new ToldRight(hold, right));
                    if (allowed) {
                        readers.add(holder.owner());
                    }
                }
            }
            return new Owners(readers.build(), holders);
        }

        private synchronized boolean mayLook() {
            boolean more = changed && life != null && !closed;
            changed = false;
            scheduled = more;
            if (!more && life == null) {
                remove();
            }
            return more;
        }

        private List<ObjectEvent<T>> eventsLocked(KnownObject<T> now, Owners owners) {
            List<ObjectEvent<T>> events = new ArrayList<>(2);
            Admitted admitted = rightsLocked(now, owners, events);
            if (owners.readers.isEmpty()) {
                reported = false;
                exists = false;
                stale = false;
                object = null;
                version = "";
                return events;
            }
            boolean unknown = now.object() == null && !now.absent();
            // all others could read at the last look, and what is known here is what they could read
            Set<Referrer> known = without(owners.readers, admitted.all());
            Set<Referrer> added = exists ? admitted.added : without(owners.readers, admitted.allowed);
            T before = object;
            if (!unknown) {
                if (exists && !known.isEmpty()) {
                    if (now.object() != null && isOther(now)) {
                        events.add(event(ObjectEvent.Type.UPDATED, now, before, known, owners, false));
                    } else if (now.absent()) {
                        events.add(event(ObjectEvent.Type.DELETED, now, before, known, owners, false));
                    }
                }
                if (now.object() != null && !added.isEmpty()) {
                    events.add(event(ObjectEvent.Type.ADDED, now, null, added, owners, subscribing));
                }
                reported = true;
                exists = now.object() != null;
                version = now.resourceVersion();
                subscribing = false;
            }
            object = now.object();
            if (reported && now.stale() != stale) {
                stale = now.stale();
                ObjectEvent.Type type = stale ? ObjectEvent.Type.STALE : ObjectEvent.Type.RECOVERED;
                events.add(event(type, now, now.object(), owners.readers, owners, false));
            } else if (reported && stale && !admitted.all().isEmpty()) {
                events.add(event(ObjectEvent.Type.STALE, now, now.object(), admitted.all(), owners, false));
            }
            return events;
        }

        private static Set<Referrer> without(Set<Referrer> all, Set<Referrer> some) {
            return some.isEmpty() ? all : Sets.difference(all, some).immutableCopy();
        }

        /** Makes the events of rights that have changed. Returns the owners who can read now, and could not at the last look. */
        private Admitted rightsLocked(KnownObject<T> now, Owners owners, List<ObjectEvent<T>> events) {
            Map<Referrer, ToldRight> before = told == null ? Map.of() : told;
            if (owners.holders.isEmpty()) {
                told = Map.of();
                return Admitted.NONE;
            }
            // what was so when the listener was subscribed is no change
            boolean silent = told == null && subscribing;
            ImmutableSet.Builder<Referrer> added = ImmutableSet.builder();
            ImmutableSet.Builder<Referrer> allowed = ImmutableSet.builder();
            Map<Referrer, ToldRight> after = new HashMap<>();
            owners.holders.forEach((owner, is) -> {
                ToldRight was = before.getOrDefault(owner, new ToldRight(is.hold, RightState.UNKNOWN));
                boolean lost = is.right == RightState.UNKNOWN && was.right == RightState.ALLOWED;
                RightState right = lost ? RightState.DENIED : is.right == RightState.UNKNOWN ? was.right : is.right;
                after.put(owner, new ToldRight(is.hold, right));
                if (silent) {
                    return;
                }
                if (right == RightState.DENIED && was.right != RightState.DENIED) {
                    events.add(event(ObjectEvent.Type.DENIED, now, null, Set.of(owner), owners, false));
                } else if (is.right == RightState.ALLOWED && was.right == RightState.UNKNOWN) {
                    added.add(owner);
                } else if (is.right == RightState.ALLOWED && !was.equals(is)) {
                    allowed.add(owner);
                    events.add(event(ObjectEvent.Type.ALLOWED, now, null, Set.of(owner), owners, false));
                }
            });
            told = after;
            return new Admitted(added.build(), allowed.build());
        }

        private boolean isOther(KnownObject<T> now) {
            T held = object;
            return held == null ? version.isEmpty() || !version.equals(now.resourceVersion()) : held != now.object();
        }

        private ObjectEvent<T> event(
                ObjectEvent.Type type,
                KnownObject<T> now,
                @Nullable T before,
                Set<Referrer> referrers,
                Owners owners,
                boolean initial) {
            T after = type == ObjectEvent.Type.DENIED ? null : now.object();
            return new ObjectEvent<>(kind, key, type, before, after, referrers, owners.holds(), initial, now.life());
        }

        /** Returns those of these owners who do not know yet that they cannot read. Now they do. */
        private synchronized Set<Referrer> deniedNow(Set<Referrer> owners, int made) {
            ImmutableSet.Builder<Referrer> denied = ImmutableSet.builder();
            if (generation == made && told != null) {
                Map<Referrer, ToldRight> after = new HashMap<>(told);
                for (Referrer owner : owners) {
                    ToldRight was = after.get(owner);
                    // what became of an owner whose hold is closed, the next look sees
                    if (was != null && was.right != RightState.DENIED && !was.hold.isClosed()) {
                        after.put(owner, new ToldRight(was.hold, RightState.DENIED));
                        denied.add(owner);
                    }
                }
                told = after;
            }
            return denied.build();
        }

        private ObjectEvent<T> denied(Referrer owner, ObjectEvent<T> instead) {
            return new ObjectEvent<>(
                    kind, key, ObjectEvent.Type.DENIED, null, null, Set.of(owner), instead.holds, false, instead.life);
        }

        private void deliver(ObjectEvent<T> event, int made) {
            synchronized (this) {
                if (closed || generation != made) {
                    return;
                }
            }
            // asked after the rights: closing the cache denies everything, and is no answer about a subject
            if (event.type() == ObjectEvent.Type.DENIED && manager.deniesAll()) {
                return;
            }
            Set<Referrer> readers = event.readersNow();
            if (readers.size() < event.referrers().size()) {
                deniedNow(without(event.referrers(), readers), made)
                        .forEach(owner -> deliver(denied(owner, event), made));
            }
            if (readers.isEmpty()) {
                return;
            }
            try {
                listener.accept(gathers ? event : event.deliveredTo(readers));
            } catch (Throwable e) {
                log.error("a listener failed with {}; it gets the next event all the same", event, e);
            }
        }
    }
}
