package dev.podcache.kubelet.nodelease;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ObjectApi;
import dev.podcache.apiserver.Retries;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.time.Pause;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Renews the Lease of a node, and creates it if it does not exist. The caller starts a round only after the one before
 * has ended. {@link #stop} and {@link #sinceRenewal} may be called at any time, from any
 * thread.
 */
final class LeaseSync {

    /*
     * A round first updates the Lease as the API server last returned it, without reading it. After five failures it
     * ensures that the Lease exists: it reads the Lease, or creates it, with pauses and until that succeeds. If it did
     * not create the Lease just now, it then updates it. Each step follows the answer to the one before, so fields that
     * only rounds use need no lock.
     *
     * Every failure is followed by the pause that the server asks for, limited to the interval between rounds: a node
     * whose Lease expires loses its pods.
     *
     * After stop(), no request is made, and the future of a round that was pausing never completes; no code waits
     * for it.
     */

    private static final Logger log = LoggerFactory.getLogger(NodeLeaseController.class);
    private static final int TRIES = 5;

    /** Upstream configures 100 ms, but doubles it before the first pause. */
    private static final Retries ENSURING = new Retries(Duration.ofMillis(200), Duration.ofSeconds(7));

    private static final Retries UPDATING = Retries.atOnce();
    private static final double NO_JITTER = 0;

    private final ObjectApi<Lease> leases;
    private final ObjectApi<Node> nodes;
    private final NodeLeaseOptions options;
    private final Timekeeper timekeeper;
    private final LeaseRenewal renewal;
    private final RenewTimes times;
    private final Pause pause;
    private @Nullable Lease latest; // used by rounds only
    private volatile long renewedAt; // nanoseconds; written before renewed
    private volatile boolean renewed;
    private volatile boolean stopped;
    private boolean unrenewable; // since the last renewal; used by rounds only

    LeaseSync(ObjectApi<Lease> leases, ObjectApi<Node> nodes, NodeLeaseOptions options, Timekeeper timekeeper) {
        this.leases = leases;
        this.nodes = nodes;
        this.options = options;
        this.timekeeper = timekeeper;
        this.renewal = new LeaseRenewal(options.nodeName(), options.seconds());
        this.times = new RenewTimes(timekeeper);
        this.pause = new Pause(timekeeper);
    }

    /**
     * The result of ensuring that the Lease exists.
     *
     * @param lease the Lease on the server; null if there is none until the next round
     * @param created whether this round created it
     */
    private record Ensured(@Nullable Lease lease, boolean created) {

        static final Ensured NOTHING = new Ensured(null, false);
    }

    /** Runs one round. Never throws; after {@link #stop}, the future may never complete. */
    CompletableFuture<Void> round() {
        return begin(() -> {
            Lease known = latest;
            return known == null
                    ? ensureAndUpdate()
                    : update(known)
                            .thenCompose(renewed ->
                                    renewed ? CompletableFuture.<Void>completedFuture(null) : ensureAndUpdate());
        });
    }

    /** Stops making requests. Returns at once. Idempotent. */
    void stop() {
        stopped = true;
        pause.close();
    }

    /** Returns the time since the server last accepted a Lease from this object; empty if it never did. */
    Optional<Duration> sinceRenewal() {
        // read before the clock: a renewal in between would make the time negative
        long at = renewedAt;
        return renewed ? Optional.of(Duration.ofNanos(timekeeper.nanoTime() - at)) : Optional.empty();
    }

    /** Returns the Lease as the server last returned it; null if it is not known to exist. */
    @Nullable
    Lease latest() {
        return latest;
    }

    private CompletableFuture<Void> ensureAndUpdate() {
        return ensure().thenCompose(ensured -> {
            latest = ensured.lease;
            return ensured.lease == null || ensured.created
                    ? CompletableFuture.completedFuture(null)
                    : update(ensured.lease).thenAccept(renewed -> {});
        });
    }

    /**
     * Updates the Lease, in up to five attempts, with no pause but those that the server asks for. Completes with
     * whether an attempt succeeded.
     */
    CompletableFuture<Boolean> update(Lease base) {
        return update(base, 0);
    }

    private CompletableFuture<Boolean> update(Lease base, int failures) {
        if (stopped) {
            return CompletableFuture.completedFuture(false);
        }
        if (failures == TRIES) {
            // one warning for each outage; sinceRenewal() shows how long it lasts
            log.atLevel(unrenewable ? Level.DEBUG : Level.WARN)
                    .log("the Lease of Node {} could not be renewed in {} tries; retrying", options.nodeName(), TRIES);
            unrenewable = true;
            return CompletableFuture.completedFuture(false);
        }
        return begin(() -> send(base))
                .handle((lease, thrown) -> {
                    if (lease != null) {
                        accept(lease);
                        return CompletableFuture.completedFuture(true);
                    }
                    if (stopped) {
                        // the request may have failed only because its connection was closed
                        return CompletableFuture.completedFuture(false);
                    }
                    boolean conflict = ApiServerException.reasonOf(thrown) == FailureReason.CONFLICT;
                    if (!conflict) {
                        reportFailedUpdate(failures + 1, thrown);
                    }
                    return pause.over(UPDATING.askedAtMost(options.interval()).pause(failures + 1, NO_JITTER, thrown))
                            .thenCompose(over -> conflict ? readAndUpdate(failures + 1) : update(base, failures + 1));
                })
                .thenCompose(Function.identity());
    }

    private void reportFailedUpdate(int failures, @Nullable Throwable thrown) {
        log.atLevel(unrenewable ? Level.DEBUG : Level.INFO)
                .log(
                        "renewal of the Lease of Node {} failed in try {} of {}: {}",
                        options.nodeName(),
                        failures,
                        TRIES,
                        ApiServerException.describe(thrown));
        if (failures > 1) {
            notifyRepeatedFailure();
        }
    }

    /** Reads the Lease, which another client has changed, and updates what it read. */
    private CompletableFuture<Boolean> readAndUpdate(int failures) {
        return ensure().thenCompose(ensured -> {
            if (ensured.lease == null) {
                return CompletableFuture.completedFuture(false);
            }
            return ensured.created ? CompletableFuture.completedFuture(true) : update(ensured.lease, failures);
        });
    }

    /**
     * Reads or creates the Lease, and repeats that until it succeeds. Ends without a Lease if the Node cannot be read.
     */
    private CompletableFuture<Ensured> ensure() {
        // one future for all tries: a chain of futures would grow during an outage of the server
        CompletableFuture<Ensured> result = new CompletableFuture<>();
        ensure(result, 1);
        return result;
    }

    private void ensure(CompletableFuture<Ensured> result, int tries) {
        if (stopped) {
            result.complete(Ensured.NOTHING);
            return;
        }
        begin(this::readOrCreate).whenComplete((ensured, thrown) -> {
            if (ensured != null) {
                result.complete(ensured);
                return;
            }
            if (stopped) {
                // the request may have failed only because its connection was closed
                result.complete(Ensured.NOTHING);
                return;
            }
            Duration wait = ENSURING.askedAtMost(options.interval()).pause(tries, NO_JITTER, thrown);
            // one warning for each outage; sinceRenewal() shows how long it lasts
            log.atLevel(tries == 1 ? Level.WARN : Level.DEBUG)
                    .log(
                            "reading or creating the Lease of Node {} failed: {}; retrying in {} ms",
                            options.nodeName(),
                            ApiServerException.describe(thrown),
                            wait.toMillis());
            pause.then(wait, () -> ensure(result, tries + 1));
        });
    }

    private CompletableFuture<Ensured> readOrCreate() {
        return leases.get(renewal.key())
                .handle((lease, thrown) -> {
                    if (lease != null) {
                        return CompletableFuture.completedFuture(new Ensured(lease, false));
                    }
                    return ApiServerException.reasonOf(thrown) == FailureReason.NOT_FOUND
                            ? create()
                            : CompletableFuture.<Ensured>failedFuture(ApiServerException.causeOf(thrown));
                })
                .thenCompose(Function.identity());
    }

    private CompletableFuture<Ensured> create() {
        return owned(null)
                .handle((lease, thrown) -> {
                    if (lease == null) {
                        log.info(
                                "no Lease was created for Node {}: {}; retrying in the next round",
                                options.nodeName(),
                                ApiServerException.describe(thrown));
                        return CompletableFuture.completedFuture(Ensured.NOTHING);
                    }
                    return leases.create(lease).thenApply(created -> {
                        accept(created);
                        return new Ensured(created, true);
                    });
                })
                .thenCompose(Function.identity());
    }

    private CompletableFuture<Lease> send(Lease base) {
        return renewal.lacksOwner(base)
                ? owned(base).thenCompose(leases::update)
                : leases.update(renewal.renewed(base, times.next(base)));
    }

    /** Returns the Lease to send, with the Node as its owner. */
    private CompletableFuture<Lease> owned(@Nullable Lease base) {
        return nodes.get(ObjectKey.of("", options.nodeName()))
                .thenApply(node -> renewal.ownedBy(node, renewal.renewed(base, times.next(base))));
    }

    private void accept(Lease lease) {
        latest = lease;
        unrenewable = false;
        renewedAt = timekeeper.nanoTime();
        renewed = true;
    }

    private void notifyRepeatedFailure() {
        try {
            options.onRepeatedFailure().run();
        } catch (RuntimeException e) {
            log.error("onRepeatedFailure of the Lease of Node {} threw; renewal continues", options.nodeName(), e);
        }
    }

    /** Calls {@code step}; an exception that it throws becomes the failure of the future. */
    private static <R> CompletableFuture<R> begin(Supplier<CompletableFuture<R>> step) {
        try {
            return step.get();
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedFuture(e);
        }
    }
}
