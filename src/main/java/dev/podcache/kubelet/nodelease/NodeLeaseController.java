package dev.podcache.kubelet.nodelease;

import com.google.common.util.concurrent.AbstractService;
import dev.podcache.apiserver.ObjectApi;
import dev.podcache.time.PeriodicLoop;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.DoubleSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews the Lease of one node while this service is running. The first round starts at once. Each further round starts
 * after a quarter of the lease duration, lengthened by up to 4 %, counted from the end of the round before. Creates the
 * Lease if it does not exist, with the Node as its owner, so that it is deleted with the Node. Thread-safe.
 *
 * <p>The renewTime always increases, even if the clock of this machine steps back: it then continues from the last
 * value at half the speed of real time, until the clock has caught up. Otherwise the node lifecycle controller would
 * not notice the renewals.
 *
 * <p>Starting and stopping return at once. After stopping, no request is made, and the Lease is left to expire: a node
 * agent that restarts within the lease duration was never away. The ports are not closed.
 */
public final class NodeLeaseController extends AbstractService {

    private static final Logger log = LoggerFactory.getLogger(NodeLeaseController.class);

    private final LeaseSync sync;
    private final PeriodicLoop loop;
    private volatile BooleanSupplier paused = () -> false;

    /** Creates a controller that is not started. */
    public NodeLeaseController(
            ObjectApi<Lease> leases, ObjectApi<Node> nodes, NodeLeaseOptions options, Timekeeper timekeeper) {
        this(new LeaseSync(leases, nodes, options, timekeeper), options, timekeeper, options.random());
    }

    /**
     * Creates a controller that is not started.
     *
     * @param random uniform in [0, 1)
     */
    NodeLeaseController(LeaseSync sync, NodeLeaseOptions options, Timekeeper timekeeper, DoubleSupplier random) {
        this.sync = sync;
        this.loop = new PeriodicLoop(this::round, options.interval(), timekeeper, random);
    }

    /**
     * Sets whether the Node was deleted: then the Lease is neither renewed nor created. Default: never. Call it before the
     * start.
     *
     * @param deleted called before each round; must not block
     */
    public void pauseWhile(BooleanSupplier deleted) {
        paused = deleted;
    }

    /**
     * Returns the time since the API server last accepted the Lease from this controller, by a clock that does not
     * step; empty if it never did.
     */
    public Optional<Duration> sinceRenewal() {
        return sync.sinceRenewal();
    }

    /** Returns the time since a round last began or ended; since the creation of this object if none has begun. */
    public Duration sinceTick() {
        return loop.sinceTick();
    }

    /**
     * Requests a round that begins after this call: at once, or after the current round. Call it when the Node has been
     * created, because no Lease is created without its owner. Does nothing if the API server has accepted a Lease from
     * this controller, or if the service is not running. Returns at once.
     */
    public void renewSoon() {
        if (isRunning() && sync.sinceRenewal().isEmpty()) {
            loop.runSoon();
        }
    }

    @Override
    protected void doStart() {
        notifyStarted();
        loop.runSoon();
    }

    @Override
    protected void doStop() {
        sync.stop();
        loop.close();
        notifyStopped();
    }

    private CompletableFuture<Void> round() {
        if (paused.getAsBoolean()) {
            return CompletableFuture.completedFuture(null);
        }
        return sync.round().whenComplete((done, thrown) -> {
            if (thrown != null) {
                log.error("a round of Lease renewal failed; this is a bug in Podcache; the next round follows", thrown);
            }
            if (sync.sinceRenewal().isPresent()) {
                loop.withdrawRunSoon();
            }
        });
    }
}
