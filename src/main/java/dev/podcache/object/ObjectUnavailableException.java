package dev.podcache.object;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Why a get brought no object. The family is closed, and each member carries facts, so that nobody needs to match text:
 * which object ({@link #kind()}, {@link #key()}), and where a request failed, why.
 *
 * <p>Messages name the object and never contain any of its content. Instances are immutable.
 */
public abstract sealed class ObjectUnavailableException extends RuntimeException {

    private final transient ObjectKind<?> kind;
    private final transient ObjectKey key;

    private ObjectUnavailableException(
            ObjectKind<?> kind, ObjectKey key, String message, @Nullable Throwable cause, boolean withStackTrace) {
        super(message, cause, true, withStackTrace);
        this.kind = kind;
        this.key = key;
    }

    public ObjectKind<?> kind() {
        return kind;
    }

    public ObjectKey key() {
        return key;
    }

    private static String name(ObjectKind<?> kind, ObjectKey key) {
        return kind.name() + " " + key;
    }

    /** Nobody registered refers to the object, so no request was made for it. */
    public static final class NotRegistered extends ObjectUnavailableException {
        public NotRegistered(ObjectKind<?> kind, ObjectKey key) {
            super(
                    kind,
                    key,
                    name(kind, key)
                            + " is not registered: no registered pod refers to it; register the pod, or whatever"
                            + " else needs it, before reading it",
                    null,
                    false);
        }
    }

    /**
     * The API server's answer is that there is no such object. The {@linkplain #getCause() cause} is null, or the
     * failure of the request that would have told whether it has appeared since.
     *
     * <p>Has no stack trace: a pod that waits for its Secret makes this an everyday answer.
     */
    public static final class NotFound extends ObjectUnavailableException {
        public NotFound(ObjectKind<?> kind, ObjectKey key, @Nullable Throwable failedCheck) {
            super(
                    kind,
                    key,
                    name(kind, key) + " not found"
                            + (failedCheck == null
                                    ? ""
                                    : ", by the last answer; asking again failed: " + failedCheck.getMessage()),
                    failedCheck,
                    false);
        }
    }

    /**
     * Strategy WATCH: the first list and watch did not succeed in time. The cause is their last
     * failure, if there was one.
     */
    public static final class NotSynced extends ObjectUnavailableException {
        public NotSynced(ObjectKind<?> kind, ObjectKey key, Duration waited, @Nullable Throwable lastFailure) {
            super(
                    kind,
                    key,
                    name(kind, key) + " not synced within " + waited.toMillis() + " ms"
                            + (lastFailure == null
                                    ? ": no answer yet; get it again, or allow a longer firstSyncTimeout"
                                    : ": " + lastFailure.getMessage()),
                    lastFailure,
                    true);
        }
    }

    /** Nothing is known of the object and it could not be fetched. */
    public static final class FetchFailed extends ObjectUnavailableException {

        private final FailureReason reason;
        private final int httpCode;
        private final @Nullable Duration retryAfter;

        /**
         * A failure of the request for {@code key}.
         *
         * @param httpCode the HTTP code of the last answer, or 0 if there was none
         * @param retryAfter how long the server asked us to wait, or null
         */
        public FetchFailed(
                ObjectKind<?> kind,
                ObjectKey key,
                FailureReason reason,
                int httpCode,
                @Nullable Duration retryAfter,
                @Nullable Throwable cause) {
            super(
                    kind,
                    key,
                    name(kind, key) + " could not be fetched: " + reason
                            + (cause == null || cause.getMessage() == null ? "" : ", " + cause.getMessage()),
                    cause,
                    true);
            this.reason = reason;
            this.httpCode = httpCode;
            this.retryAfter = retryAfter;
        }

        public FailureReason reason() {
            return reason;
        }

        /** The HTTP code of the last answer; empty if no answer came. */
        public OptionalInt httpCode() {
            return httpCode == 0 ? OptionalInt.empty() : OptionalInt.of(httpCode);
        }

        /** How long the server asked us to wait; empty if it did not. */
        public Optional<Duration> retryAfter() {
            return Optional.ofNullable(retryAfter);
        }
    }

    /** The cache was closed before or during the get. */
    public static final class Closed extends ObjectUnavailableException {
        public Closed(ObjectKind<?> kind, ObjectKey key) {
            super(kind, key, name(kind, key) + " was not read: the cache is closed", null, false);
        }
    }
}
