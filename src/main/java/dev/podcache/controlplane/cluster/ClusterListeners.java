package dev.podcache.controlplane.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The listeners of a {@link ClusterCache}. One that throws misses the change that it was told of, and nothing else is
 * lost: neither the other listeners nor the rest of a list. Used by tasks of the cache's loop only.
 */
final class ClusterListeners {

    private static final Logger log = LoggerFactory.getLogger(ClusterListeners.class);

    private final List<ClusterListener> listeners = new ArrayList<>();

    void add(ClusterListener listener) {
        listeners.add(listener);
    }

    /** Tells all listeners of a change, in the order in which they were added. Never throws. */
    void tell(Consumer<ClusterListener> change) {
        for (ClusterListener listener : listeners) {
            try {
                change.accept(listener);
            } catch (RuntimeException | Error e) {
                log.error("a listener of the cluster's cache threw; this is a bug; it misses one change", e);
            }
        }
    }
}
