package dev.podcache.manager;

import com.google.common.collect.ImmutableSet;
import com.google.common.util.concurrent.MoreExecutors;
import dev.podcache.manager.Registrations.ReadHold;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.Referrer;
import dev.podcache.store.KnownObject;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One listener of one manager that is called for the changes of an owner's objects together, some time after the first
 * of them.
 */
final class GatheredEvents<T> implements AutoCloseable {

    /*
     * Later events of an object are merged into earlier ones, so that at most three are kept for an owner and an object:
     * what the object is, whether it is stale, and whether the owner may read it. They are taken when the listener is called, so a slow listener
     * merges more of them. What an owner may not read when the listener is called is left out.
     *
     * An owner is told as it is registered when the listener is called. If it has lost its subject by then, it may read what
     * was gathered, and nothing tells it of that again. If it has got one, it may read nothing until a review allows it, and is
     * told ADDED then.
     */

    private static final Logger log = LoggerFactory.getLogger(Manager.class);

    private final StoreManager<T> manager;
    private final Executor inOrder;
    private final Duration gather;
    private final BiConsumer<Referrer, List<ObjectEvent<T>>> listener;
    private final Map<Referrer, Untold<T>> byOwner = new HashMap<>(); // guarded by this
    private boolean closed; // guarded by this
    private volatile @Nullable Subscription<T> subscription; // null while it is opened

    /** Subscribes a listener. */
    GatheredEvents(
            StoreManager<T> manager,
            Executor executor,
            Duration gather,
            BiConsumer<Referrer, List<ObjectEvent<T>>> listener) {
        this.manager = manager;
        this.inOrder = MoreExecutors.newSequentialExecutor(executor);
        this.gather = gather;
        this.listener = listener;
        // on the thread that reports a change: adding an event is fast
        Subscription<T> opened = Subscription.openGathering(manager, this::add);
        this.subscription = opened;
        if (isClosed()) {
            opened.close();
        }
    }

    /** The events of one owner that the listener has not received yet. */
    private static final class Untold<T> {
        private final Map<ToldAbout, ObjectEvent<T>> events = new LinkedHashMap<>();
        private final Timekeeper.Scheduled timer;

        Untold(Timekeeper.Scheduled timer) {
            this.timer = timer;
        }
    }

    /** An object, and what an event says of it. */
    private record ToldAbout(ObjectKey key, ObjectEvent.Topic topic) implements Comparable<ToldAbout> {

        /** See {@link ObjectKey#compareTo}. */
        @Override
        public int compareTo(ToldAbout other) {
            int byKey = key.compareTo(other.key);
            return byKey == 0 ? topic.compareTo(other.topic) : byKey;
        }
    }

    private synchronized void add(ObjectEvent<T> event) {
        if (closed) {
            return;
        }
        for (Referrer owner : event.referrers()) {
            Untold<T> untold = byOwner.computeIfAbsent(
                    owner, first -> new Untold<>(manager.store.timekeeper().schedule(gather, () -> submit(owner))));
            ToldAbout told = new ToldAbout(event.key(), event.topic());
            ObjectEvent<T> earlier = untold.events.remove(told);
            // an owner with a subject may have been told of the object before it had this one
            if (!owner.isOnBehalf() && event.undoes(earlier)) {
                // what stays shows an object that its owner was never told of, and which is gone
                untold.events.computeIfPresent(
                        new ToldAbout(event.key(), ObjectEvent.Topic.STALENESS),
                        (about, staleness) -> staleness.withoutObject());
            } else {
                // the event moves to the end: the last change comes last
                untold.events.put(told, event.after(earlier));
            }
            if (event.type() == ObjectEvent.Type.DENIED) {
                untold.events.remove(new ToldAbout(event.key(), ObjectEvent.Topic.CONTENT));
                untold.events.remove(new ToldAbout(event.key(), ObjectEvent.Topic.STALENESS));
            }
        }
    }

    private void submit(Referrer owner) {
        try {
            inOrder.execute(() -> tell(owner));
        } catch (Throwable e) {
            log.warn(
                    "the executor of a listener for objects of kind {} did not take a task; the listener is closed",
                    manager.store.kind(),
                    e);
            close();
        }
    }

    private void tell(Referrer gathered) {
        List<ObjectEvent<T>> events;
        synchronized (this) {
            Untold<T> untold = byOwner.remove(gathered);
            events = untold == null ? List.of() : List.copyOf(untold.events.values());
        }
        Referrer owner;
        List<ObjectEvent<T>> ofOwner;
        do {
            owner = asTold(gathered);
            ofOwner = forOwner(events, owner);
            // a call that took its subject from it has closed its holds, but nothing tells it of what was gathered
            // again
        } while (!asTold(gathered).subject().equals(owner.subject()));
        if (ofOwner.isEmpty() || isClosed()) {
            return;
        }
        try {
            listener.accept(owner, ofOwner);
        } catch (Throwable e) {
            log.error("a listener failed with {} of {}; it gets the next events all the same", ofOwner, owner, e);
        }
    }

    /** Returns an owner as it is registered, but as its events name it if its subject is the same: not each equals the other. */
    private Referrer asTold(Referrer gathered) {
        Referrer now = manager.registeredNow(gathered);
        return now.subject().equals(gathered.subject()) ? gathered : now;
    }

    private List<ObjectEvent<T>> forOwner(List<ObjectEvent<T>> events, Referrer owner) {
        return events.stream()
                .filter(event -> isFor(event, owner))
                .map(event -> event.deliveredTo(readers(event, owner)))
                .toList();
    }

    /** Returns whether an owner holds the object as it was when the event was made, and may be told of it. */
    private boolean isFor(ObjectEvent<T> event, Referrer owner) {
        KnownObject<T> known = manager.store.known(event.key());
        if (known == null || known.life() != event.life) {
            return false;
        }
        if (owner.isOnBehalf()) {
            ReadHold hold = event.holds.get(owner);
            return hold != null && !hold.isClosed() && event.readersNow().contains(owner);
        }
        return event.type() != ObjectEvent.Type.DENIED && isHeldFreely(known, owner);
    }

    /** Returns whether an owner without a subject holds the object. */
    private boolean isHeldFreely(KnownObject<T> known, Referrer owner) {
        if (known.referrers().contains(owner)) {
            return !known.restricted().contains(owner);
        }
        // the store knows an owner as it was registered first, and not each equals itself with a subject
        return known.referrers().stream()
                .filter(reference ->
                        reference.isOnBehalf() && !known.restricted().contains(reference))
                .anyMatch(reference -> manager.registered(reference).equals(owner));
    }

    /** Returns who may read an event now, with an owner that has lost its subject since the event was made. */
    private static Set<Referrer> readers(ObjectEvent<?> event, Referrer owner) {
        Set<Referrer> readers = event.readersNow();
        return owner.isOnBehalf() || readers.contains(owner)
                ? readers
                : ImmutableSet.<Referrer>builder().addAll(readers).add(owner).build();
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    /** Ends the events: none is taken for delivery after this has returned. Those that were may still come. Idempotent. */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            byOwner.values().forEach(untold -> untold.timer.cancel());
            byOwner.clear();
        }
        Subscription<T> opened = subscription;
        if (opened != null) {
            opened.close();
        }
    }
}
