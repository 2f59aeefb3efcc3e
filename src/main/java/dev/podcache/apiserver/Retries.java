package dev.podcache.apiserver;

import com.google.common.collect.Comparators;
import dev.podcache.object.FailureReason;
import dev.podcache.time.Backoff;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Whether to repeat a request that failed, and after what pause: what all that repeats requests
 * has in common. Immutable.
 *
 * <p>A caller waits for a get, and an event is of no use for ever: for these it matters whether
 * the failure may pass by itself.
 *
 * <table>
 * <caption>What is repeated for a caller that waits</caption>
 * <tr><th>reason</th><th>a get</th><th>an event</th><th>because</th></tr>
 * <tr><td>UNAVAILABLE, TIMEOUT</td><td>until its deadline</td><td>yes</td><td>no answer came, or
 * one that says that the server could not</td></tr>
 * <tr><td>THROTTLED</td><td>until its deadline</td><td>yes</td><td>the server, or the limit on
 * our side, said: later</td></tr>
 * <tr><td>FORBIDDEN</td><td>for a second</td><td>no</td><td>right after a pod's binding the Node authorizer refuses for
 * some milliseconds (kubernetes/kubernetes PR 136211), later it means what it says; asked alike for every identity, as
 * nobody can tell by a refusal whether it is a node's</td></tr>
 * <tr><td>UNAUTHORIZED</td><td>no</td><td>no</td><td>a token that was rotated has been read again by the connection
 * itself, so the server does not know the new one either</td></tr>
 * <tr><td>NOT_FOUND, ALREADY_EXISTS</td><td>no</td><td>no</td><td>that is the answer</td></tr>
 * <tr><td>CONFLICT, EXPIRED</td><td>no</td><td>no</td><td>it takes another request: on what is
 * there now, or a list</td></tr>
 * <tr><td>REJECTED, UNREADABLE</td><td>no</td><td>no</td><td>the same request would be answered the same; what is closed
 * stays closed</td></tr>
 * <tr><td>INTERRUPTED</td><td>no</td><td>no</td><td>the caller gave up; the server never says so</td></tr>
 * </table>
 *
 * <p>Loops that keep something as it should be (watches, refreshes behind gets, the lease, the Node's
 * registration and its status, pods' statuses) repeat whatever the reason: the role may be granted, the token
 * renewed or the server mended at any time, without notice. What they make of an answer is their own: a reflector lists at
 * once after EXPIRED, a lease is created after NOT_FOUND and based on what is there after CONFLICT, a pod's
 * status is done with after NOT_FOUND.
 *
 * <p>A loop's pauses grow with its failures in a row. After FORBIDDEN it pauses as if there were one fewer, so that it
 * asks twice soon before it slows down: what it keeps may be a pod's that was bound just now.
 *
 * <p>The pause is the loop's own, or as long as the server asked (Retry-After, as a header or in the Status) if that is
 * longer. But what is asked counts for two minutes at most: a kube-apiserver asks for up to 32 s, and a proxy that asks
 * for a year must not keep a loop from noticing that it is over. A caller with a deadline takes what was asked as it
 * is, and gives up at once if it does not fit. Reflectors wait up to 2 s longer than they were asked to, at random; if
 * the server asks many of them, or cannot be reached, they try one at a time.
 */
public final class Retries {

    private static final Duration LONGEST_ASKED = Duration.ofMinutes(2);
    private static final Duration FORBIDDEN_MAY_PASS = Duration.ofSeconds(1);

    private final Pauses own;
    private final Duration longestAsked;

    /** What a loop pauses of its own accord. */
    private interface Pauses {
        Duration pause(int failures, double random);
    }

    private Retries(Pauses own, Duration longestAsked) {
        this.own = own;
        this.longestAsked = longestAsked;
    }

    /**
     * Pauses of up to {@code first}, doubled with each failure in a row up to {@code cap}, as {@link Backoff} has them.
     */
    public Retries(Duration first, Duration cap) {
        this(new Backoff(first, cap)::pause, LONGEST_ASKED);
    }

    /**
     * At first a pause of any length up to {@code pause}, so that many who failed together come
     * back apart; then always that.
     */
    public static Retries every(Duration pause) {
        return new Retries(
                (failures, random) -> failures > 1 ? pause : Duration.ofNanos((long) (pause.toNanos() * random)),
                LONGEST_ASKED);
    }

    /** No pause but what the server asks for. */
    public static Retries atOnce() {
        return every(Duration.ZERO);
    }

    /** The same, but what the server asks for counts up to {@code longest} instead of two minutes. */
    public Retries askedAtMost(Duration longest) {
        return new Retries(own, longest);
    }

    /**
     * How long to pause before the next attempt.
     *
     * @param failures how many attempts in a row have failed, at least 1
     * @param random uniform in [0, 1), for the jitter of the loop's own pause
     * @param failure of the latest, as it is or as a stage has wrapped it; any that is not the
     *     API server's asks for nothing
     */
    public Duration pause(int failures, double random, @Nullable Throwable failure) {
        Duration pause = own.pause(isRefusal(failure) ? Math.max(1, failures - 1) : failures, random);
        Duration asked = asked(failure);
        return asked == null ? pause : Comparators.max(pause, Comparators.min(asked, longestAsked));
    }

    /** Whether the server asked for a pause. */
    public static boolean asksForPause(@Nullable Throwable failure) {
        return asked(failure) != null;
    }

    /** Whether the failure may pass by itself: no answer came, or the server had no time. Any other is an answer. */
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
     * Until how long after the beginning of the first attempt another one may begin for a caller that waits.
     *
     * @param budget the caller's time, from the beginning of the first attempt
     * @return zero if none may
     */
    static Duration repeatedFor(FailureReason reason, Duration budget) {
        if (mayPass(reason)) {
            return budget;
        }
        if (reason == FailureReason.FORBIDDEN) {
            return Comparators.min(budget, FORBIDDEN_MAY_PASS);
        }
        return Duration.ZERO;
    }

    private static boolean isRefusal(@Nullable Throwable failure) {
        ApiServerException known = known(failure);
        return known != null && known.reason() == FailureReason.FORBIDDEN;
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
