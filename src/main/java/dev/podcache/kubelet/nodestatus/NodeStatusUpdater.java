package dev.podcache.kubelet.nodestatus;

import dev.podcache.apiserver.ObjectApi;
import dev.podcache.node.NodeLister;
import dev.podcache.time.PeriodicLoop;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Node;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Registers a node and keeps its status in the API up to date. Thread-safe; no method blocks.
 *
 * <p>After {@link #start()}, the updater creates the Node, or corrects the existing one, and repeats that until it
 * succeeds. Then it runs a sync every 10 s, lengthened by up to 4 %, counted from the end of the sync before. A sync
 * computes the status, and reports it with one PATCH if it has changed, or if the last report was 5 min ago. After a
 * change, the next report without a change follows after half to one and a half times that period, at random. A sync
 * makes no request if the {@link NodeLister} knows the Node and no report is due. A failed sync is tried up to five
 * times without a pause, and reads the Node from the API server from the second try on. Until the node is first Ready,
 * but for at most two minutes, the status is also computed ten times a second, so that readiness is reported at once.
 *
 * <p>If the Node is deleted later, that is, if the API server answers that it does not exist, the updater reports nothing
 * until another client creates it, as the kubelet does; or registers it again, if {@link
 * NodeStatusOptions.Builder#registerAgain} is set.
 */
public final class NodeStatusUpdater implements AutoCloseable {

    /*
     * Registration, syncs and fast checks are tasks of one SerialTasks. Only one of them runs at a time, from its first
     * step to the answer to its last request, on several threads. So their shared state (whether the Node is
     * registered, the last report, the setters) needs no lock. At most one sync and one fast check wait for their turn:
     * each is scheduled only after the one before has ended, and all requests for a sync in the meantime share one.
     *
     * A sync that registers the Node runs until that succeeds, however long it takes: there is nothing to report
     * before. Code that blocks (setters, the callback for failures) runs on Timekeeper.blocking().
     *
     * close() does not wait for the running task. It closes the pauses, so that nothing new starts, and the port, so
     * that the running task ends at its next request with a cancellation, which is not logged.
     */

    private final OpenNodeApi api;
    private final NodeRegistration registration;
    private final StatusReports reports;
    private final NodeStatusSync sync;
    private final PeriodicLoop loop;
    private final FastStatusUpdate fastUpdate;
    private final AtomicBoolean started = new AtomicBoolean();

    /**
     * Creates an updater that is not started.
     *
     * @param api must answer within a bounded time; not closed
     * @param lister follows the Node of this node; not closed
     * @param timekeeper not closed
     * @param options the node and its setters
     * @throws IllegalArgumentException if {@code lister} follows another Node
     */
    public NodeStatusUpdater(ObjectApi<Node> api, NodeLister lister, Timekeeper timekeeper, NodeStatusOptions options) {
        if (!lister.name().equals(options.node().name())) {
            throw new IllegalArgumentException("the lister follows Node " + lister.name() + ", but the options are for"
                    + " Node " + options.node().name());
        }
        SerialTasks tasks = new SerialTasks();
        this.api = new OpenNodeApi(api);
        this.reports = new StatusReports(this.api, options, timekeeper);
        this.registration = new NodeRegistration(this.api, reports::initial, timekeeper);
        this.sync = new NodeStatusSync(
                new NodeStatusSync.SyncParts(this.api, registration, reports), lister, options, timekeeper);
        this.loop =
                new PeriodicLoop(() -> tasks.run(sync::run), options.updateFrequency(), timekeeper, options.random());
        this.fastUpdate = new FastStatusUpdate(
                new FastStatusUpdate.UpdateParts(tasks, lister, reports), timekeeper, loop::runSoon);
    }

    /** Starts registration and the first sync. Returns at once. Idempotent; does nothing once closed. */
    public void start() {
        if (started.compareAndSet(false, true)) {
            loop.start();
            fastUpdate.start();
        }
    }

    /**
     * Requests a sync before the end of the period, because something about the node has changed. It starts at once, or
     * after the current sync. Several calls in the meantime share one sync. Returns at once. Does nothing before {@link
     * #start()} and after {@link #close()}.
     */
    public void syncSoon() {
        if (started.get()) {
            loop.runSoon();
        }
    }

    /** Returns whether the Node was deleted, so that it is not reported until another client creates it. */
    public boolean isDeleted() {
        return sync.isDeleted();
    }

    /** Returns the time since a sync last began or ended; since the creation of this object if none has begun. */
    public Duration sinceTick() {
        return loop.sinceTick();
    }

    /** Returns the current state. Its parts may be of slightly different times. */
    public NodeStatusState state() {
        return new NodeStatusState(sync.isRegistered(), reports.last(), sync.problem());
    }

    /**
     * Stops making requests. A request that another thread is starting may still be sent, and a request that was sent
     * may still take effect. A running setter continues, without effect. The Node is not deleted. Idempotent.
     */
    @Override
    public void close() {
        api.close();
        loop.close();
        sync.close();
        fastUpdate.close();
        registration.close();
    }
}
