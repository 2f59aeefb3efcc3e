package dev.podcache.manager;

import com.google.common.util.concurrent.MoreExecutors;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.Referrer;
import dev.podcache.store.KnownObject;
import dev.podcache.store.ObservableStore;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
     * Later events of an object are merged into earlier ones, so that at most two are kept for an owner and an object:
     * what the object is, and whether it is stale. They are taken when the listener is called, so a slow listener
     * merges more of them.
     */

    private static final Logger log = LoggerFactory.getLogger(Manager.class);

    private final ObservableStore<T> store;
    private final Executor inOrder;
    private final Duration gather;
    private final BiConsumer<Referrer, List<ObjectEvent<T>>> listener;
    private final Map<Referrer, Untold<T>> byOwner = new HashMap<>(); // guarded by this
    private boolean closed; // guarded by this
    private volatile @Nullable Subscription<T> subscription; // null while it is opened

    /** Subscribes a listener. */
    GatheredEvents(
            ObservableStore<T> store,
            Executor executor,
            Duration gather,
            BiConsumer<Referrer, List<ObjectEvent<T>>> listener) {
        this.store = store;
        this.inOrder = MoreExecutors.newSequentialExecutor(executor);
        this.gather = gather;
        this.listener = listener;
        // on the thread that reports a change: adding an event is fast
        Subscription<T> opened = Subscription.open(store, MoreExecutors.directExecutor(), this::add);
        this.subscription = opened;
        if (isClosed()) {
            opened.close();
        }
    }

    /** The events of one owner that the listener has not received yet. */
    private static final class Untold<T> {
        private final Map<Subject, ObjectEvent<T>> events = new LinkedHashMap<>();
        private final Timekeeper.Scheduled timer;

        Untold(Timekeeper.Scheduled timer) {
            this.timer = timer;
        }
    }

    /** What an event is about: what an object is, or whether it is stale. */
    private record Subject(ObjectKey key, boolean isStaleness) implements Comparable<Subject> {

        /** See {@link ObjectKey#compareTo}. */
        @Override
        public int compareTo(Subject other) {
            int byKey = key.compareTo(other.key);
            return byKey == 0 ? Boolean.compare(isStaleness, other.isStaleness) : byKey;
        }
    }

    private synchronized void add(ObjectEvent<T> event) {
        if (closed) {
            return;
        }
        for (Referrer owner : event.referrers()) {
            Untold<T> untold = byOwner.computeIfAbsent(
                    owner, first -> new Untold<>(store.timekeeper().schedule(gather, () -> submit(owner))));
            Subject subject = new Subject(event.key(), event.isStaleness());
            // the event moves to the end: the last change comes last
            untold.events.put(subject, event.after(untold.events.remove(subject)));
        }
    }

    private void submit(Referrer owner) {
        try {
            inOrder.execute(() -> tell(owner));
        } catch (Throwable e) {
            log.warn(
                    "the executor of a listener for objects of kind {} did not take a task; the listener is closed",
                    store.kind(),
                    e);
            close();
        }
    }

    private void tell(Referrer owner) {
        List<ObjectEvent<T>> events;
        synchronized (this) {
            Untold<T> untold = byOwner.remove(owner);
            events = untold == null ? List.of() : List.copyOf(untold.events.values());
        }
        List<ObjectEvent<T>> ofOwner =
                events.stream().filter(event -> isHeld(event, owner)).toList();
        if (ofOwner.isEmpty() || isClosed()) {
            return;
        }
        try {
            listener.accept(owner, ofOwner);
        } catch (Throwable e) {
            log.error("a listener failed with {} of {}; it gets the next events all the same", ofOwner, owner, e);
        }
    }

    /** Returns whether the object is held by its owner as it was when the event was made. */
    private boolean isHeld(ObjectEvent<T> event, Referrer owner) {
        KnownObject<T> known = store.known(event.key());
        return known != null && known.life() == event.life && known.referrers().contains(owner);
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    /** Ends the events: no call of the listener begins after this has returned. Idempotent. */
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
