package dev.podcache.kubelet.nodelease;

import com.google.common.util.concurrent.AbstractService;
import dev.podcache.apiserver.ObjectApi;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews the Lease of one node for as long as it runs: the first time at once, then a quarter of the lease's
 * duration, and up to 4 % more, after the end of each round. Creates the lease if there is none, owned by the Node so
 * that it goes with it. Thread-safe.
 *
 * <p>The renewTime that is written always increases, even if the clock of this machine steps back: it then goes
 * on from the last one, more slowly than real time, until the clock has caught up. Else the node lifecycle
 * controller would not see the renewals.
 *
 * <p>Starting and stopping return at once. Stopping makes no further request and leaves the lease to run out: a
 * node agent that restarts within the duration was never away. The ports are not closed.
 */
public final class NodeLeaseController extends AbstractService {

    private static final Logger log = LoggerFactory.getLogger(NodeLeaseController.class);
    private static final double JITTER = 0.04;

    private final LeaseSync sync;
    private final Duration interval;
    private final Timekeeper timekeeper;
    private final DoubleSupplier random;
    private Timekeeper.@Nullable Scheduled next; // guarded by this
    private boolean inRound; // guarded by this
    private boolean again; // guarded by this

    /** Not started yet. */
    public NodeLeaseController(
            ObjectApi<Lease> leases, ObjectApi<Node> nodes, NodeLeaseOptions options, Timekeeper timekeeper) {
        this(
                new LeaseSync(leases, nodes, options, timekeeper),
                options,
                timekeeper,
                () -> ThreadLocalRandom.current().nextDouble());
    }

    /**
     * Not started yet.
     *
     * @param random uniform in [0, 1)
     */
    NodeLeaseController(LeaseSync sync, NodeLeaseOptions options, Timekeeper timekeeper, DoubleSupplier random) {
        this.sync = sync;
        this.interval = options.interval();
        this.timekeeper = timekeeper;
        this.random = random;
    }

    /** How long ago the server last accepted a lease of ours, by a clock that does not step; empty if it never did. */
    public Optional<Duration> sinceRenewal() {
        return sync.sinceRenewal();
    }

    /**
     * To be called when the Node has come into being, which is the owner of the lease and without which none is
     * created: there is a round that begins after this call, at once or after the one that runs now, unless the server
     * has accepted a lease already. Returns at once. Without effect unless this is running.
     */
    public synchronized void renewSoon() {
        again = inRound;
        if (!inRound && isRunning() && sync.sinceRenewal().isEmpty()) {
            nextLocked(Duration.ZERO);
        }
    }

    @Override
    protected void doStart() {
        notifyStarted();
        synchronized (this) {
            nextLocked(Duration.ZERO);
        }
    }

    @Override
    protected void doStop() {
        sync.stop();
        synchronized (this) {
            if (next != null) {
                next.cancel();
            }
        }
        notifyStopped();
    }

    private void round() {
        synchronized (this) {
            if (inRound || !isRunning()) {
                return;
            }
            inRound = true;
            again = false;
        }
        sync.round().whenComplete((done, thrown) -> {
            if (thrown != null) {
                log.error("a round of renewing the lease failed; this is a bug in Podcache", thrown);
            }
            ended();
        });
    }

    private synchronized void ended() {
        inRound = false;
        // who stops takes the lock after its state has changed, so one of the two sees the other
        if (isRunning()) {
            nextLocked(again && sync.sinceRenewal().isEmpty() ? Duration.ZERO : pause());
        }
    }

    /** Of two rounds that were to come, only this one does. */
    private void nextLocked(Duration wait) {
        if (next != null) {
            next.cancel();
        }
        next = timekeeper.schedule(wait, this::round);
    }

    private Duration pause() {
        return interval.plusNanos((long) (interval.toNanos() * JITTER * random.getAsDouble()));
    }
}
