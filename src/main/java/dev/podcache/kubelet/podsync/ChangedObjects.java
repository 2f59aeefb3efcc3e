package dev.podcache.kubelet.podsync;

import dev.podcache.manager.Manager;
import dev.podcache.manager.ObjectEvent;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells which pods refer to an object that has changed. Thread-safe. */
final class ChangedObjects implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(ChangedObjects.class);

    private final Executor threads;
    private final Consumer<String> referrers;
    private final List<AutoCloseable> listeners = new CopyOnWriteArrayList<>();

    /**
     * Creates an instance that follows no objects.
     *
     * @param threads run the listeners
     * @param referrers receives the UIDs of the pods; must not block
     */
    ChangedObjects(Executor threads, Consumer<String> referrers) {
        this.threads = threads;
        this.referrers = referrers;
    }

    /** Follows the objects of a manager, whose strategy must not be GET. */
    void follow(Manager<?> objects) {
        listeners.add(objects.listen(threads, this::changed));
    }

    private void changed(ObjectEvent<?> event) {
        switch (event.type()) {
            case ADDED, UPDATED, DELETED -> event.referrers().forEach(pod -> referrers.accept(pod.uid()));
            // pods have no subject, so their right never changes
            case STALE, RECOVERED, DENIED, ALLOWED -> {}
        }
    }

    /** Follows no objects any more. Idempotent. */
    @Override
    public void close() {
        for (AutoCloseable listener : listeners) {
            try {
                listener.close();
            } catch (Exception e) {
                log.warn("a listener of changed objects was not removed; its events have no effect", e);
            }
        }
    }
}
