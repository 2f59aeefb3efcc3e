package dev.podcache.apiserver;

import com.google.common.collect.Comparators;
import dev.podcache.object.FailureReason;
import dev.podcache.time.Backoff;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The common retry policy: decides whether a failed request is retried, and after which pause. Immutable.
 *
 * <p>A get has a caller that waits, and an event loses its value with time. Both are retried only if the failure may
 * pass by itself:
 *
 * <table>
 * <caption>Retries of gets and events</caption>
 * <tr><th>reason</th><th>get</th><th>event</th><th>because</th></tr>
 * <tr><td>UNAVAILABLE, TIMEOUT</td><td>until its deadline</td><td>yes</td><td>the server did not answer, or could not
 * process the request</td></tr>
 * <tr><td>THROTTLED</td><td>until its deadline</td><td>yes</td><td>the server, or the client-side limit, asks for a
 * pause</td></tr>
 * <tr><td>FORBIDDEN</td><td>no</td><td>no</td><td>a refusal is final; but the store asks again soon for an object whose
 * reference is new, because access may follow the reference</td></tr>
 * <tr><td>UNAUTHORIZED</td><td>no</td><td>no</td><td>the connection has already retried with credentials that it read
 * again</td></tr>
 * <tr><td>NOT_FOUND, ALREADY_EXISTS</td><td>no</td><td>no</td><td>this is the answer</td></tr>
 * <tr><td>CONFLICT, EXPIRED</td><td>no</td><td>no</td><td>another request is needed: one that is based on the current
 * state, or a list</td></tr>
 * <tr><td>REJECTED, UNREADABLE</td><td>no</td><td>no</td><td>the same request would fail again; a closed client stays
 * closed</td></tr>
 * <tr><td>INTERRUPTED</td><td>no</td><td>no</td><td>the caller has given up; no server sends this</td></tr>
 * </table>
 *
 * <p>Loops (watches, background refreshes, the lease, the registration and the status of the Node, the statuses of
 * pods) retry whatever the reason, because a role can be granted, a token renewed or a server repaired at any time,
 * without notice. Each loop decides what it does next: after EXPIRED a reflector lists at once; after NOT_FOUND a lease
 * is created; after CONFLICT it is read again; after NOT_FOUND a pod's status is no longer reported.
 *
 * <p>The pauses of a loop grow with consecutive failures. A pause is the longer of the loop's own and the one that the
 * server asks for (Retry-After, in the header or in the Status). Retry-After counts for at most two minutes: a
 * kube-apiserver asks for up to 32 s, and a proxy that asks for a year must not stop a loop for that long. A caller with a
 * deadline respects the full pause, and fails at once if that exceeds its deadline. A reflector waits up to 2 s longer than
 * asked, at random. If the server asks many reflectors to wait, or cannot be reached, they retry one at a time.
 */
public final class Retries {

    private static final Duration LONGEST_ASKED = Duration.ofMinutes(2);

    private final Pauses own;
    private final Duration longestAsked;

    /** The loop's own pause, as if the server asked for none. */
    private interface Pauses {
        Duration pause(int failures, double random);
    }

    private Retries(Pauses own, Duration longestAsked) {
        this.own = own;
        this.longestAsked = longestAsked;
    }

    /**
     * Creates a policy with exponential pauses: up to {@code first}, doubled with each consecutive failure up to {@code
     * cap}, as in {@link Backoff}.
     */
    public Retries(Duration first, Duration cap) {
        this(new Backoff(first, cap)::pause, LONGEST_ASKED);
    }

    /**
     * Returns a policy with a constant pause. Only the first pause is random, up to {@code pause}, so that clients
     * which failed at the same time do not retry at the same time.
     */
    public static Retries every(Duration pause) {
        return new Retries(
                (failures, random) -> failures > 1 ? pause : Duration.ofNanos((long) (pause.toNanos() * random)),
                LONGEST_ASKED);
    }

    /** Returns a policy that pauses only if the server asks for it. */
    public static Retries atOnce() {
        return every(Duration.ZERO);
    }

    /** Returns a copy of this policy that respects Retry-After up to {@code longest} instead of two minutes. */
    public Retries askedAtMost(Duration longest) {
        return new Retries(own, longest);
    }

    /**
     * Returns the pause before the next attempt.
     *
     * @param failures the number of consecutive failures, at least 1
     * @param random uniform in [0, 1), for the jitter of the loop's own pause
     * @param failure the latest failure, which may be wrapped by a future; only an {@link ApiServerException} can ask
     *     for a pause
     */
    public Duration pause(int failures, double random, @Nullable Throwable failure) {
        Duration pause = own.pause(failures, random);
        Duration asked = asked(failure);
        return asked == null ? pause : Comparators.max(pause, Comparators.min(asked, longestAsked));
    }

    /** Returns the pause that the server asks for (Retry-After), at most two minutes; zero if it asks for none. */
    public static Duration askedPause(@Nullable Throwable failure) {
        return atOnce().pause(1, 0, failure);
    }

    /** Returns whether the server asks for a pause (Retry-After). */
    public static boolean asksForPause(@Nullable Throwable failure) {
        return asked(failure) != null;
    }

    /** Returns whether a failure may pass by itself, because the server did not answer or was overloaded. */
    public static boolean mayPass(FailureReason reason) {
        return switch (reason) {
            case UNAVAILABLE, THROTTLED, TIMEOUT -> true;
            case FORBIDDEN,
                    NOT_FOUND,
                    UNAUTHORIZED,
                    EXPIRED,
                    CONFLICT,
                    ALREADY_EXISTS,
                    REJECTED,
                    UNREADABLE,
                    INTERRUPTED -> false;
        };
    }

    /**
     * Returns for how long after the start of the first attempt a get may start another.
     *
     * @param budget the caller's time, from the start of the first attempt
     * @return zero if there must be no retry
     */
    public static Duration repeatedFor(FailureReason reason, Duration budget) {
        return mayPass(reason) ? budget : Duration.ZERO;
    }

    private static @Nullable Duration asked(@Nullable Throwable failure) {
        ApiServerException known = known(failure);
        return known == null ? null : known.retryAfter();
    }

    private static @Nullable ApiServerException known(@Nullable Throwable failure) {
        return failure != null && ApiServerException.causeOf(failure) instanceof ApiServerException known
                ? known
                : null;
    }
}
