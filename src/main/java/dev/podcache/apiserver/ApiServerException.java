package dev.podcache.apiserver;

import com.google.common.collect.Comparators;
import dev.podcache.object.FailureReason;
import io.fabric8.kubernetes.api.model.Status;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if a request to the API server failed. The reason, the HTTP code and the pause that the server asked for are
 * fields; the message names the request and never contains a payload. Immutable.
 */
public final class ApiServerException extends RuntimeException {

    /** Caps Retry-After, because a {@code long} of nanoseconds cannot hold 293 years. */
    private static final Duration LONGEST_PAUSE = Duration.ofDays(365);

    private final FailureReason reason;
    private final int httpCode;
    private final @Nullable Duration retryAfter;

    /**
     * Creates a failure.
     *
     * @param httpCode the HTTP code of the answer, or 0 if there was none
     * @param retryAfter how long the server asks the client to wait, cut to a year; null if it does not ask
     * @param message names the request; never contains a payload
     */
    public ApiServerException(
            FailureReason reason,
            int httpCode,
            @Nullable Duration retryAfter,
            String message,
            @Nullable Throwable cause) {
        super(message, cause);
        this.reason = Objects.requireNonNull(reason, "reason");
        this.httpCode = httpCode;
        this.retryAfter = retryAfter == null ? null : Comparators.min(retryAfter, LONGEST_PAUSE);
    }

    /** Returns the failure of a request that was not answered, or whose answer was of no use. */
    public static ApiServerException withoutAnswer(
            FailureReason reason, String request, String why, @Nullable Throwable cause) {
        return new ApiServerException(reason, 0, null, request + ": " + why, cause);
    }

    /**
     * Returns the failure of a request that was answered with an error.
     *
     * @param request names the request, such as {@code GET Secret shop/db}
     * @param httpCode the HTTP code of the answer, or the code of the ERROR event
     * @param status the Status in the answer, or null
     * @param retryAfterHeader the value of the Retry-After header, or null
     */
    public static ApiServerException answered(
            String request, int httpCode, @Nullable Status status, @Nullable Duration retryAfterHeader) {
        String message = status == null || status.getMessage() == null ? "" : ": " + status.getMessage();
        return new ApiServerException(
                reasonOf(httpCode, status),
                httpCode,
                longer(retryAfterHeader, retryAfterOf(status)),
                request + " was answered " + httpCode + message,
                null);
    }

    /**
     * Returns the failure of a request, without the {@link CompletionException} that a future may have wrapped around
     * it.
     *
     * @return an {@link AssertionError} if {@code thrown} is null, because a future without a value must have a failure
     */
    public static Throwable causeOf(@Nullable Throwable thrown) {
        if (thrown == null) {
            return new AssertionError("the future completed with neither a value nor a failure");
        }
        Throwable cause = thrown instanceof CompletionException ? thrown.getCause() : null;
        return cause == null ? thrown : cause;
    }

    /** Returns the reason of an API server's failure, also if a future has wrapped it; null for any other exception. */
    public static @Nullable FailureReason reasonOf(@Nullable Throwable thrown) {
        return causeOf(thrown) instanceof ApiServerException failure ? failure.reason() : null;
    }

    /** Returns the text of a failure for a log line: the message of an API server's failure, without its class. */
    public static String describe(@Nullable Throwable thrown) {
        Throwable cause = causeOf(thrown);
        return String.valueOf(cause instanceof ApiServerException ? cause.getMessage() : cause);
    }

    public FailureReason reason() {
        return reason;
    }

    /** Returns the HTTP code of the answer, or 0 if there was none. */
    public int httpCode() {
        return httpCode;
    }

    /**
     * Returns how long the server asks the client to wait: the longer of header and Status, at most a year; null if it
     * does not ask.
     */
    public @Nullable Duration retryAfter() {
        return retryAfter;
    }

    private static FailureReason reasonOf(int code, @Nullable Status status) {
        // with a 504 that has this Status, the API server itself ran out of time; any other 504 comes from a proxy
        boolean timedOut = status != null && "Timeout".equals(status.getReason());
        return switch (code) {
            case 401 -> FailureReason.UNAUTHORIZED;
            case 403 -> FailureReason.FORBIDDEN;
            case 404 -> FailureReason.NOT_FOUND;
            case 408 -> FailureReason.TIMEOUT;
            case 409 ->
                status != null && "AlreadyExists".equals(status.getReason())
                        ? FailureReason.ALREADY_EXISTS
                        : FailureReason.CONFLICT;
            case 410 -> FailureReason.EXPIRED;
            // a kube-apiserver answers a wrong UID with 422 to a PATCH, and with 409 to a PUT or DELETE
            case 422 -> isAboutUid(status) ? FailureReason.CONFLICT : FailureReason.REJECTED;
            case 429 -> FailureReason.THROTTLED;
            default -> {
                if (timedOut) {
                    yield FailureReason.TIMEOUT;
                }
                yield code >= 500 ? FailureReason.UNAVAILABLE : FailureReason.REJECTED;
            }
        };
    }

    private static boolean isAboutUid(@Nullable Status status) {
        return status != null
                && status.getDetails() != null
                && status.getDetails().getCauses().stream().anyMatch(cause -> "metadata.uid".equals(cause.getField()));
    }

    private static @Nullable Duration retryAfterOf(@Nullable Status status) {
        if (status == null || status.getDetails() == null) {
            return null;
        }
        Integer seconds = status.getDetails().getRetryAfterSeconds();
        return seconds == null || seconds <= 0 ? null : Duration.ofSeconds(seconds);
    }

    private static @Nullable Duration longer(@Nullable Duration a, @Nullable Duration b) {
        return a == null ? b : b == null ? a : Comparators.max(a, b);
    }
}
