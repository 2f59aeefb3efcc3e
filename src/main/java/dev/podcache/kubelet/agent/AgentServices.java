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
 * The parts of an agent, started in order and stopped in reverse order. A {@code ServiceManager} would start all at once,
 * but the runtime's health must be known before the node is registered. Used by one thread.
 */
final class AgentServices implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(AgentServices.class);
    private static final long STOP_TIMEOUT_SECONDS = 10;

    private final ImmutableList<Service> services;

    AgentServices(List<Service> inOrder) {
        this.services = ImmutableList.copyOf(inOrder);
    }

    /** Returns a service that has started when {@code start} returns, and stopped when {@code stop} does. */
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
     * Starts all parts, each after the part before it runs.
     *
     * @throws IllegalStateException if a part fails to start; the parts before it run until {@link #close}
     */
    void start() {
        services.forEach(service -> service.startAsync().awaitRunning());
    }

    /**
     * Stops all running parts, the last one first. A part that throws or does not stop in time is logged, and the others
     * are stopped.
     */
    @Override
    public void close() {
        for (Service service : services.reverse()) {
            try {
                service.stopAsync().awaitTerminated(STOP_TIMEOUT_SECONDS, TimeUnit.SECONDS);
            } catch (TimeoutException e) {
                log.warn("{} has not stopped within {} s; stopping the others", service, STOP_TIMEOUT_SECONDS, e);
            } catch (IllegalStateException e) {
                log.warn("{} failed: {}; stopping the others", service, String.valueOf(e.getCause()), e);
            }
        }
    }
}
