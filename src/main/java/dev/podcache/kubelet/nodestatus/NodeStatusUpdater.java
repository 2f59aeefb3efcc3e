package dev.podcache.kubelet.nodestatus;

import dev.podcache.apiserver.ObjectApi;
import dev.podcache.node.NodeLister;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Node;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Registers a node and keeps its status in the API up to date. Thread-safe; no method blocks.
 *
 * <p>From {@link #start()} on: the Node is created, or the one that exists is put right, which is tried until it
 * succeeds. Then its status is computed once a period (10 s and up to 4 % more, from the end of one sync to the
 * beginning of the next), and reported by one PATCH if it says anything new, or if there was no report for 5 min; after
 * a change the first of those comes after half to one and a half times that, at random. A sync costs no request as long
 * as the {@link NodeLister} knows the Node and there is nothing to report. A sync that fails is tried five times, back
 * to back, from the second time on with a fresh read from the API server. Until the node is first Ready, and for at
 * most two minutes, it is also looked at ten times a second, so that the cluster learns of it at once.
 *
 * <p>What the kubelet does not do: if the API server answers that the Node does not exist, because somebody
 * deleted it, it is registered again. To take a node out of the cluster, stop its agent first. The kubelet goes on
 * failing until it is restarted.
 */
public final class NodeStatusUpdater implements AutoCloseable {

    /*
     * Registration, syncs and fast looks are tasks of one SerialTasks: one of them at a time, from its first step to the
     * answer to its last request, on whatever threads that happens. So what they share (whether the Node is
     * registered, what was reported last, the setters) needs no lock. At most one sync and one fast look wait for
     * their turn: each is scheduled anew only after the one before it has ended, and whoever asks for a sync
     * meanwhile is served by the same one.
     *
     * A sync that has to register keeps the turn until the Node is registered, however long that takes: there is
     * nothing to report before. What blocks (setters, the listener of failures) runs on Timekeeper.blocking().
     *
     * close() takes no turn. It closes the pauses, so nothing begins any more, and the port, so that what runs ends at
     * its next request with a cancellation that nobody is told of.
     */

    private final OpenNodeApi api;
    private final NodeRegistration registration;
    private final StatusReports reports;
    private final NodeStatusSync sync;
    private final SyncLoop loop;
    private final FastStatusUpdate fastUpdate;
    private final AtomicBoolean started = new AtomicBoolean();

    /**
     * An updater that does nothing yet.
     *
     * @param api its answers must come in a bounded time
     * @param lister follows the node's own Node; not closed
     * @param timekeeper time and threads; not closed
     * @param options who the node is
     * @throws IllegalArgumentException if {@code lister} follows another Node
     */
    public NodeStatusUpdater(ObjectApi<Node> api, NodeLister lister, Timekeeper timekeeper, NodeStatusOptions options) {
        if (!lister.name().equals(options.node().name())) {
            throw new IllegalArgumentException("the lister follows Node " + lister.name() + ", but the node is "
                    + options.node().name() + ": give the lister of the same name");
        }
        SerialTasks turns = new SerialTasks();
        NodeStatusComputation computation = new NodeStatusComputation(options.node(), options.setters());
        this.api = new OpenNodeApi(api);
        this.registration = new NodeRegistration(this.api, computation, timekeeper, options.resetsExtendedResources());
        this.reports = new StatusReports(
                this.api, computation, new LastReport(options.reportFrequency(), options.random()), timekeeper);
        this.sync = new NodeStatusSync(
                new NodeStatusSync.SyncParts(this.api, registration, reports), lister, options, timekeeper);
        this.loop = new SyncLoop(() -> turns.take(sync::run), options.updateFrequency(), timekeeper, options.random());
        this.fastUpdate =
                new FastStatusUpdate(new FastStatusUpdate.UpdateParts(turns, lister, reports), timekeeper, loop::soon);
    }

    /** Begins with registration and a first sync. Returns at once. Idempotent; without effect once closed. */
    public void start() {
        if (started.compareAndSet(false, true)) {
            loop.start();
            fastUpdate.start();
        }
    }

    /**
     * Syncs without waiting for the end of the period, because something about the node has changed: at once, or after
     * the sync that runs now. Many such calls at once have one sync in common. Returns at once. Without effect before
     * {@link #start()} and after {@link #close()}.
     */
    public void syncSoon() {
        loop.soon();
    }

    /** How it goes. Its parts may be of slightly different times. */
    public NodeStatusState state() {
        return new NodeStatusState(sync.isRegistered(), reports.last(), sync.problem());
    }

    /**
     * Makes no request from now on, though one that another thread is about to make may still go out, and what was sent
     * may still take effect. A setter that runs now runs to its end, in vain. The Node stays. Idempotent.
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
