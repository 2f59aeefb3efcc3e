package dev.podcache.manager;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.store.KnownObject;
import dev.podcache.store.ObservableStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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
     */

    private static final Logger log = LoggerFactory.getLogger(Manager.class);

    private final ObjectKind<?> kind;
    private final ObservableStore<T> store;
    private final Executor executor;
    private final Consumer<ObjectEvent<T>> listener;
    private final Map<ObjectKey, Line> lines = new ConcurrentHashMap<>();
    private volatile boolean closed;
    private volatile @Nullable Runnable unobserve;

    private Subscription(ObservableStore<T> store, Executor executor, Consumer<ObjectEvent<T>> listener) {
        this.kind = store.kind();
        this.store = store;
        this.executor = executor;
        this.listener = listener;
    }

    /** Subscribes a listener, and reports every object that is known. */
    static <T> Subscription<T> open(ObservableStore<T> store, Executor executor, Consumer<ObjectEvent<T>> listener) {
        Subscription<T> subscription = new Subscription<>(store, executor, listener);
        subscription.unobserve = store.observe(subscription::changed);
        for (ObjectKey key : store.keys()) {
            KnownObject<T> known = store.known(key);
            if (known != null) {
                subscription.mark(key, known.life(), true);
            }
        }
        return subscription;
    }

    private void changed(ObjectKey key) {
        KnownObject<T> known = store.known(key);
        if (known != null) {
            mark(key, known.life(), false);
            return;
        }
        Line line = lines.get(key);
        if (line != null) {
            line.dropped();
        }
    }

    private void mark(ObjectKey key, Object life, boolean subscribing) {
        boolean marked = closed;
        while (!marked) {
            marked = lines.computeIfAbsent(key, Line::new).mark(life, subscribing);
        }
    }

    /** Ends the events: none begins after this has returned. One that has begun may go on. Idempotent. */
    @Override
    public void close() {
        closed = true;
        Runnable end = unobserve;
        if (end != null) {
            end.run();
        }
        lines.values().forEach(Line::dropped);
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

        Line(ObjectKey key) {
            this.key = key;
        }

        /** Has the object be looked at; returns false if this line is not in use any more. */
        boolean mark(Object now, boolean atSubscription) {
            synchronized (this) {
                if (removed) {
                    return false;
                }
                if (life != null && life != now) {
                    forget();
                }
                life = now;
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

        /** Ends the events of the object's present life. */
        synchronized void dropped() {
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
            KnownObject<T> now = store.known(key);
            int seen;
            List<ObjectEvent<T>> events;
            synchronized (this) {
                seen = generation;
                events = now == null || now.life() != life ? List.of() : eventsLocked(now);
            }
            events.forEach(event -> deliver(event, seen));
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

        private List<ObjectEvent<T>> eventsLocked(KnownObject<T> now) {
            List<ObjectEvent<T>> events = new ArrayList<>(2);
            T before = object;
            boolean unknown = now.object() == null && !now.absent();
            if (!unknown) {
                if (now.object() != null && !exists) {
                    events.add(event(ObjectEvent.Type.ADDED, now, null, subscribing));
                } else if (now.object() != null && isOther(now)) {
                    events.add(event(ObjectEvent.Type.UPDATED, now, before, false));
                } else if (now.absent() && exists) {
                    events.add(event(ObjectEvent.Type.DELETED, now, before, false));
                }
                reported = true;
                exists = now.object() != null;
                version = now.resourceVersion();
                subscribing = false;
            }
            object = now.object();
            if (reported && now.stale() != stale) {
                stale = now.stale();
                events.add(
                        event(stale ? ObjectEvent.Type.STALE : ObjectEvent.Type.RECOVERED, now, now.object(), false));
            }
            return events;
        }

        private boolean isOther(KnownObject<T> now) {
            T held = object;
            return held == null ? version.isEmpty() || !version.equals(now.resourceVersion()) : held != now.object();
        }

        private ObjectEvent<T> event(ObjectEvent.Type type, KnownObject<T> now, @Nullable T before, boolean initial) {
            return new ObjectEvent<>(kind, key, type, before, now.object(), now.referrers(), initial, now.life());
        }

        private void deliver(ObjectEvent<T> event, int made) {
            synchronized (this) {
                if (closed || generation != made) {
                    return;
                }
            }
            try {
                listener.accept(event);
            } catch (Throwable e) {
                log.error("a listener failed with {}; it gets the next event all the same", event, e);
            }
        }
    }
}
