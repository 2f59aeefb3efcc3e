package dev.podcache.podconfig;

import com.google.common.collect.ImmutableList;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Service;
import java.util.function.DoubleSupplier;

/** The Services that containers are told of in their environment. Thread-safe; no method blocks. */
public interface ServiceLister extends AutoCloseable {

    /**
     * Follows Services from now on. Keeps those with an address of their own; headless ones are forgotten at once.
     *
     * @param services chooses the Services, of all namespaces
     * @param random uniform in [0, 1), for the jitter of pauses
     * @return to be closed by the caller
     */
    static ServiceLister following(ListerWatcher<Service> services, Timekeeper timekeeper, DoubleSupplier random) {
        return new WatchedServices(services, timekeeper, random).start();
    }

    /** Whether all Services have been read at least once. Once true it stays true. */
    boolean hasSynced();

    /** The Services of a namespace as last seen, in the order of their names. They must not be modified. */
    ImmutableList<Service> inNamespace(String namespace);

    /** Stops following. What is known stays known. Idempotent. */
    @Override
    void close();
}
