package dev.podcache.kubelet.podconfig;

import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.reflector.Recovery;
import io.fabric8.kubernetes.api.model.Service;
import java.util.List;

/** The Services that containers see as environment variables. Thread-safe; no method blocks. */
public interface ServiceLister extends AutoCloseable {

    /**
     * Starts to list and watch Services. Keeps the Services with a cluster IP and discards headless ones.
     *
     * @param services selects the Services, of all namespaces
     * @param recovery shared by all reflectors of the API server
     * @return the lister, which the caller must close
     */
    static ServiceLister following(ListerWatcher<Service> services, Recovery recovery) {
        return new WatchedServices(services, recovery).start();
    }

    /** Returns whether Services have been listed at least once. Once true, it stays true. */
    boolean hasSynced();

    /** Returns the last known Services of a namespace, ordered by name; unmodifiable. Do not modify the Services. */
    List<Service> inNamespace(String namespace);

    /** Closes the watch. The last known Services remain available. Idempotent. */
    @Override
    void close();
}
