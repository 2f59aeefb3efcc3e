package dev.podcache.kubelet.nodelease;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ObjectApi;
import dev.podcache.apiserver.Retries;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Has the lease renewed, or created if there is none, one round at a time. Safe for one round,
 * and {@link #stop} at any time.
 */
final class LeaseSync {

    /*
     * A round first updates the lease as the server last answered it, without reading it. Only if that fails
     * five times does it ensure that there is a lease, which it tries until it succeeds, with pauses; then it
     * updates that, unless it has just created it. All of it is steps that follow each other's answers, so what
     * only rounds touch needs no lock.
     *
     * A pause that the server asks for is made after any failure, but only up to the interval between rounds: a lease
     * that lapses costs the node its pods.
     *
     * Once stopped, no further request is made, and a round that was pausing never ends; nobody waits for it.
     */

    private static final Logger log = LoggerFactory.getLogger(NodeLeaseController.class);
    private static final int TRIES = 5;

    /** Upstream begins with 100 ms, but doubles before it pauses. */
    private static final Retries ENSURING = new Retries(Duration.ofMillis(200), Duration.ofSeconds(7));

    private static final Retries UPDATING = Retries.atOnce();
    private static final double NO_JITTER = 0;

    private final ObjectApi<Lease> leases;
    private final ObjectApi<Node> nodes;
    private final NodeLeaseOptions options;
    private final Timekeeper timekeeper;
    private final LeaseRenewal renewal;
    private final RenewTimes times;
    private @Nullable Lease latest; // touched by rounds only
    private volatile @Nullable Long renewedAt; // nanoseconds
    private boolean stopped; // guarded by this
    private Timekeeper.@Nullable Scheduled pause; // guarded by this

    LeaseSync(ObjectApi<Lease> leases, ObjectApi<Node> nodes, NodeLeaseOptions options, Timekeeper timekeeper) {
        this.leases = leases;
        this.nodes = nodes;
        this.options = options;
        this.timekeeper = timekeeper;
        this.renewal = new LeaseRenewal(options.nodeName(), options.seconds());
        this.times = new RenewTimes(timekeeper);
    }

    /**
     * What there is after ensuring.
     *
     * @param lease null if it was not possible for now
     */
    private record Ensured(@Nullable Lease lease, boolean created) {

        static final Ensured NOTHING = new Ensured(null, false);
    }

    /** One round. Never throws; the future may never complete once this is stopped. */
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

    /** Makes no further request. Returns at once. Idempotent. */
    synchronized void stop() {
        stopped = true;
        if (pause != null) {
            pause.cancel();
            pause = null;
        }
    }

    /** How long ago the server last accepted a lease of ours; empty if it never did. */
    Optional<Duration> sinceRenewal() {
        Long at = renewedAt;
        return at == null ? Optional.empty() : Optional.of(Duration.ofNanos(timekeeper.nanoTime() - at));
    }

    /** The lease as the server last answered it. */
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

    /** Up to five tries, one right after the other. Completes with whether one succeeded. */
    CompletableFuture<Boolean> update(Lease base) {
        return update(base, 0);
    }

    private CompletableFuture<Boolean> update(Lease base, int failures) {
        if (isStopped()) {
            return CompletableFuture.completedFuture(false);
        }
        if (failures == TRIES) {
            log.warn("the lease of Node {} could not be renewed in {} tries", options.nodeName(), TRIES);
            return CompletableFuture.completedFuture(false);
        }
        return begin(() -> prepared(base).thenCompose(leases::update))
                .handle((lease, thrown) -> {
                    if (lease != null) {
                        accept(lease);
                        return CompletableFuture.completedFuture(true);
                    }
                    if (isStopped()) {
                        // what fails now does so because its connection is closed
                        return CompletableFuture.completedFuture(false);
                    }
                    if (reasonOf(thrown) != FailureReason.CONFLICT) {
                        tellUpdateFailed(failures + 1, thrown);
                    }
                    return pauseAfter(thrown, failures + 1)
                            .thenCompose(over -> reasonOf(thrown) == FailureReason.CONFLICT
                                    ? updateAnew(failures + 1)
                                    : update(base, failures + 1));
                })
                .thenCompose(Function.identity());
    }

    private void tellUpdateFailed(int failures, @Nullable Throwable thrown) {
        log.info(
                "the lease of Node {} was not renewed in try {} of {}: {}",
                options.nodeName(),
                failures,
                TRIES,
                why(thrown));
        if (failures > 1) {
            tellRepeatedFailure();
        }
    }

    /** Somebody else changed the lease: what is there now is the base of the next try. */
    private CompletableFuture<Boolean> updateAnew(int failures) {
        return ensure().thenCompose(ensured -> {
            if (ensured.lease == null) {
                return CompletableFuture.completedFuture(false);
            }
            return ensured.created ? CompletableFuture.completedFuture(true) : update(ensured.lease, failures);
        });
    }

    /** Tries until there is a lease, or until creating one would be wrong. */
    private CompletableFuture<Ensured> ensure() {
        // one future for all tries: a chain of them would grow for as long as the server is away
        CompletableFuture<Ensured> result = new CompletableFuture<>();
        ensure(result, 1);
        return result;
    }

    private void ensure(CompletableFuture<Ensured> result, int tries) {
        if (isStopped()) {
            result.complete(Ensured.NOTHING);
            return;
        }
        begin(this::tryToEnsure).whenComplete((ensured, thrown) -> {
            if (ensured != null) {
                result.complete(ensured);
                return;
            }
            if (isStopped()) {
                // what fails now does so because its connection is closed
                result.complete(Ensured.NOTHING);
                return;
            }
            Duration wait = ENSURING.askedAtMost(options.interval()).pause(tries, NO_JITTER, thrown);
            // once for an outage; how long it lasts, sinceRenewal() tells
            log.atLevel(tries == 1 ? Level.WARN : Level.DEBUG)
                    .log(
                            "whether Node {} has a lease is not known, asking again in {} ms: {}",
                            options.nodeName(),
                            wait.toMillis(),
                            why(thrown));
            pauseFor(wait, () -> ensure(result, tries + 1));
        });
    }

    private CompletableFuture<Ensured> tryToEnsure() {
        return leases.get(renewal.key())
                .handle((lease, thrown) -> {
                    if (lease != null) {
                        return CompletableFuture.completedFuture(new Ensured(lease, false));
                    }
                    return reasonOf(thrown) == FailureReason.NOT_FOUND
                            ? create()
                            : CompletableFuture.<Ensured>failedFuture(ApiServerException.causeOf(thrown));
                })
                .thenCompose(Function.identity());
    }

    private CompletableFuture<Ensured> create() {
        return prepared(null)
                .handle((lease, thrown) -> {
                    if (lease == null) {
                        log.info("Node {} gets no lease before the next round: {}", options.nodeName(), why(thrown));
                        return CompletableFuture.completedFuture(Ensured.NOTHING);
                    }
                    return leases.create(lease).thenApply(created -> {
                        accept(created);
                        return new Ensured(created, true);
                    });
                })
                .thenCompose(Function.identity());
    }

    /** The lease to write, with the Node as its owner. */
    private CompletableFuture<Lease> prepared(@Nullable Lease base) {
        if (!renewal.lacksOwner(base)) {
            return CompletableFuture.completedFuture(renewal.renewed(base, times.next(base)));
        }
        return nodes.get(ObjectKey.of("", options.nodeName()))
                .thenApply(node -> renewal.ownedBy(node, renewal.renewed(base, times.next(base))));
    }

    private void accept(Lease lease) {
        latest = lease;
        renewedAt = timekeeper.nanoTime();
    }

    private void tellRepeatedFailure() {
        try {
            options.onRepeatedFailure().run();
        } catch (RuntimeException e) {
            log.error("onRepeatedFailure failed; the lease of Node {} is renewed all the same", options.nodeName(), e);
        }
    }

    private synchronized boolean isStopped() {
        return stopped;
    }

    private synchronized void pauseFor(Duration wait, Runnable then) {
        if (!stopped) {
            pause = timekeeper.schedule(wait, then);
        }
    }

    private CompletableFuture<@Nullable Void> pauseAfter(@Nullable Throwable thrown, int failures) {
        Duration wait = UPDATING.askedAtMost(options.interval()).pause(failures, NO_JITTER, thrown);
        CompletableFuture<@Nullable Void> over = new CompletableFuture<>();
        if (wait.isZero()) {
            over.complete(null);
        } else {
            pauseFor(wait, () -> over.complete(null));
        }
        return over;
    }

    private interface Step<R> {
        CompletableFuture<R> take();
    }

    /** Turns what a step throws, too, into a failure. */
    private static <R> CompletableFuture<R> begin(Step<R> step) {
        return CompletableFuture.<@Nullable Void>completedFuture(null).thenCompose(begun -> step.take());
    }

    private static @Nullable FailureReason reasonOf(@Nullable Throwable thrown) {
        return ApiServerException.causeOf(thrown) instanceof ApiServerException failure ? failure.reason() : null;
    }

    private static String why(@Nullable Throwable thrown) {
        Throwable cause = ApiServerException.causeOf(thrown);
        return cause instanceof ApiServerException ? String.valueOf(cause.getMessage()) : cause.toString();
    }
}
