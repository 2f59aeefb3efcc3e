package dev.podcache.cli.controllers;

import com.google.common.util.concurrent.MoreExecutors;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.cli.output.ProgramEvent;
import dev.podcache.controlplane.leaderelection.LeaderElectionOptions;
import dev.podcache.controlplane.leaderelection.LeaderElector;
import dev.podcache.object.ObjectKind;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs the controllers while this process leads, with new caches each time. Thread-safe. */
final class Leadership implements LeaderElector.LeadershipListener, AutoCloseable {

    /*
     * Starting and closing the controllers takes a while, and so happens one after the other on blocking threads. To
     * halt them takes no time, and happens at once: a start that is late sees that the leadership is lost, because it
     * publishes the controllers before it asks.
     */

    private static final Logger log = LoggerFactory.getLogger(Leadership.class);
    private static final Duration RELEASE_TIMEOUT = Duration.ofSeconds(3);
    private static final Duration RESTART = Duration.ofSeconds(5);

    private final Supplier<RunningControllers> controllers;
    private final Timekeeper timekeeper;
    private final Consumer<ProgramEvent> events;
    private final Executor inOrder;
    private volatile boolean leading;
    private volatile @Nullable RunningControllers running;
    private @Nullable LeaderElector elector;

    /**
     * Creates an instance that does not lead.
     *
     * @param controllers makes controllers that are not started
     */
    Leadership(Supplier<RunningControllers> controllers, Timekeeper timekeeper, Consumer<ProgramEvent> events) {
        this.controllers = controllers;
        this.timekeeper = timekeeper;
        this.events = events;
        this.inOrder = MoreExecutors.newSequentialExecutor(timekeeper.blocking());
    }

    /** Competes for the Lease. Called at most once. */
    void compete(Fabric8ApiServer server, LeaderElectionOptions options) {
        events.accept(ProgramEvent.of("candidate", "identity", options.identity()));
        elector = new LeaderElector(
                server.api(ObjectKind.LEASE, options.renewDeadline().dividedBy(2)), options, this, server.timekeeper());
        elector.start();
    }

    @Override
    public void startedLeading() {
        leading = true;
        events.accept(ProgramEvent.of("leading", "message", "the controllers start"));
        inOrder.execute(this::startIfLeading);
    }

    @Override
    public void stoppedLeading(String why) {
        leading = false;
        RunningControllers halted = running;
        if (halted != null) {
            halted.halt();
        }
        events.accept(ProgramEvent.of("lost", "why", "the controllers have stopped: " + why));
        inOrder.execute(this::end);
    }

    @Override
    public void newLeader(String identity) {
        events.accept(ProgramEvent.of("leader", "identity", identity));
    }

    /** Returns whether this process leads, or competes with nobody. */
    boolean isLeading() {
        return leading;
    }

    /** Returns why the controllers do not run although this process leads; empty if they run or another process leads. */
    Optional<String> problem() {
        return leading && running == null
                ? Optional.of("the controllers have not started; the log says why")
                : Optional.empty();
    }

    private synchronized void startIfLeading() {
        // another try may be left from an earlier leadership: nothing would stop the controllers that it replaces
        if (!leading || running != null) {
            return;
        }
        try {
            RunningControllers starting = controllers.get();
            running = starting;
            if (leading) {
                starting.start();
            } else {
                starting.halt();
            }
        } catch (RuntimeException | Error e) {
            log.error("the controllers did not start; trying again in {} s", RESTART.toSeconds(), e);
            end();
            timekeeper.schedule(RESTART, () -> inOrder.execute(this::startIfLeading));
        }
    }

    private synchronized void end() {
        RunningControllers ended = running;
        running = null;
        if (ended != null) {
            ended.close();
        }
    }

    /** Stops the controllers, and gives the Lease up. Waits some seconds at most. */
    @Override
    public void close() {
        LeaderElector competing = elector;
        if (competing == null) {
            leading = false;
        } else {
            try {
                timekeeper.await(competing.stop(), RELEASE_TIMEOUT);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        end();
    }
}
