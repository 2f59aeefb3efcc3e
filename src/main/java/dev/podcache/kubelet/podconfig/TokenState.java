package dev.podcache.kubelet.podconfig;

import com.google.common.collect.Comparators;
import dev.podcache.apiserver.TokenRequests.IssuedToken;
import dev.podcache.object.ObjectKey;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The last token of one source of a pod, and the last failure to request one. Thread-safe; its monitor is held only for
 * short calculations.
 */
final class TokenState {

    private static final Duration LONGEST_USE = Duration.ofHours(24);
    private static final Duration LONGEST_JITTER = Duration.ofSeconds(10);
    private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(10);
    private static final Duration ABANDONED_AFTER = Duration.ofHours(1);

    private final Timekeeper timekeeper;
    private final DoubleSupplier random;

    private @Nullable Received received; // guarded by this
    private @Nullable FailedRequest failure; // guarded by this
    private long usedNanos; // guarded by this

    /** A token, when it was received, and at which age to renew it. */
    private record Received(IssuedToken token, long atNanos, Instant at, Duration renewalAge) {}

    private record FailedRequest(String message, long atNanos) {}

    TokenState(Timekeeper timekeeper, DoubleSupplier random) {
        this.timekeeper = timekeeper;
        this.random = random;
    }

    /** Marks the beginning of a use, which keeps the token from being abandoned. */
    synchronized void used() {
        usedNanos = timekeeper.nanoTime();
    }

    synchronized boolean needsRequest() {
        if (failure != null && isPositive(pauseLeft(failure))) {
            return false;
        }
        return received == null || age(received).compareTo(received.renewalAge) > 0;
    }

    synchronized void received(IssuedToken token) {
        Duration beforeEnd = token.life().dividedBy(5);
        Duration use = Comparators.min(token.life().minus(beforeEnd), LONGEST_USE);
        Duration jitter = Comparators.min(LONGEST_JITTER, beforeEnd);
        Duration renewalAge = use.minusNanos((long) (random.getAsDouble() * jitter.toNanos()));
        received = new Received(token, timekeeper.nanoTime(), timekeeper.wallTime(), renewalAge);
        failure = null;
    }

    /**
     * Records a failed request. Returns for how long the old token is still valid; empty if there is none, or if the
     * request before failed, too.
     */
    synchronized Optional<Duration> failed(ObjectKey account, String cause) {
        Optional<Duration> left = Optional.ofNullable(received).map(this::leftOf);
        boolean expired = left.isPresent() && !isPositive(left.get());
        String what = expired
                ? "token of ServiceAccount " + account + " expired and refresh failed: "
                : "failed to fetch token: ";
        boolean first = failure == null;
        failure = new FailedRequest(what + cause, timekeeper.nanoTime());
        return left.filter(duration -> first && isPositive(duration));
    }

    /**
     * Returns the token.
     *
     * @throws PodConfigException with the last failure if there is no valid token
     */
    synchronized String current(ConfigTarget target) {
        if (received == null || !isPositive(leftOf(received))) {
            throw target.failure(failure == null ? "failed to fetch token: the last one expired" : failure.message);
        }
        return received.token.token();
    }

    /** Returns the time until the token should be renewed, at least zero; empty if there is no token. */
    synchronized Optional<Duration> untilRenewal() {
        if (received == null) {
            return Optional.empty();
        }
        Duration untilAge = received.renewalAge.minus(age(received));
        Duration left = failure == null ? untilAge : Comparators.max(untilAge, pauseLeft(failure));
        return Optional.of(Comparators.max(left, Duration.ZERO));
    }

    /**
     * Returns whether the token expired long ago and was not used since, so that the pod's volumes are no longer resolved. A
     * state that waits for its first token is not abandoned.
     */
    synchronized boolean isAbandoned() {
        return received != null
                && leftOf(received).plus(ABANDONED_AFTER).isNegative()
                && timekeeper.nanoTime() - usedNanos > ABANDONED_AFTER.toNanos();
    }

    private static boolean isPositive(Duration duration) {
        return !duration.isZero() && !duration.isNegative();
    }

    /** Returns how long the token is still valid; zero or negative if it has expired. */
    private Duration leftOf(Received token) {
        return token.token.life().minus(age(token));
    }

    private Duration pauseLeft(FailedRequest last) {
        return PAUSE_AFTER_FAILURE.minusNanos(timekeeper.nanoTime() - last.atNanos);
    }

    /** The monotonic clock may stop while the machine sleeps, and the time of day may be set back. */
    private Duration age(Received token) {
        return Comparators.max(
                Duration.ofNanos(timekeeper.nanoTime() - token.atNanos),
                Duration.between(token.at, timekeeper.wallTime()));
    }
}
