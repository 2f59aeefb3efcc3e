package dev.podcache.kubelet.agent;

import com.google.common.collect.ImmutableList;
import com.google.common.util.concurrent.AbstractService;
import com.google.common.util.concurrent.Service;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What an agent consists of, started in order and stopped in reverse: a {@code ServiceManager} would start all at once,
 * but a node should be registered by who can already be told what is wrong. Used by one thread.
 */
final class AgentServices implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(AgentServices.class);
    private static final long PATIENCE_SECONDS = 10;

    private final ImmutableList<Service> services;

    AgentServices(List<Service> inOrder) {
        this.services = ImmutableList.copyOf(inOrder);
    }

    /** A service that begins and ends at once. */
    static Service part(String name, Runnable start, Runnable stop) {
        return new StartStopService(name, start, stop);
    }

    private static final class StartStopService extends AbstractService {

        private final String name;
        private final Runnable start;
        private final Runnable stop;

        StartStopService(String name, Runnable start, Runnable stop) {
            this.name = name;
            this.start = start;
            this.stop = stop;
        }

        @Override
        protected void doStart() {
            start.run();
            notifyStarted();
        }

        @Override
        protected void doStop() {
            stop.run();
            notifyStopped();
        }

        @Override
        public String toString() {
            return name;
        }
    }

    /**
     * Starts all, each when the one before it runs.
     *
     * @throws IllegalStateException if one fails to; those before it run on until {@link #close}
     */
    void start() {
        services.forEach(service -> service.startAsync().awaitRunning());
    }

    /**
     * Stops all that run, the last one first; one that does not end in time, or throws, does
     * not keep the others from ending.
     */
    @Override
    public void close() {
        for (Service service : services.reverse()) {
            try {
                service.stopAsync().awaitTerminated(PATIENCE_SECONDS, TimeUnit.SECONDS);
            } catch (IllegalStateException | TimeoutException e) {
                log.warn("{} did not stop properly", service, e);
            }
        }
    }
}
