package dev.podcache.kubelet.podconfig;

import com.google.common.collect.ImmutableList;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.reflector.Recovery;
import io.fabric8.kubernetes.api.model.Service;

/** The Services that containers are told of in their environment. Thread-safe; no method blocks. */
public interface ServiceLister extends AutoCloseable {

    /**
     * Follows Services from now on. Keeps those with an address of their own; headless ones are forgotten at once.
     *
     * @param services chooses the Services, of all namespaces
     * @param recovery shared by all reflectors of the server
     * @return to be closed by the caller
     */
    static ServiceLister following(ListerWatcher<Service> services, Recovery recovery) {
        return new WatchedServices(services, recovery).start();
    }

    /** Whether all Services have been read at least once. Once true it stays true. */
    boolean hasSynced();

    /** The Services of a namespace as last seen, in the order of their names. They must not be modified. */
    ImmutableList<Service> inNamespace(String namespace);

    /** Stops following. What is known stays known. Idempotent. */
    @Override
    void close();
}
