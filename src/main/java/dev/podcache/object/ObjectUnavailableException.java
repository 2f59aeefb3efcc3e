package dev.podcache.object;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when a get returns no object. The family is sealed, and each member carries facts, so that no caller has to
 * match text: the object ({@link #kind()}, {@link #key()}) and, where a request failed, the reason.
 *
 * <p>Messages name the object and never contain its content. Instances are immutable.
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

    /** No registered referrer refers to the object, so no request was made. */
    public static final class NotRegistered extends ObjectUnavailableException {
        public NotRegistered(ObjectKind<?> kind, ObjectKey key) {
            super(
                    kind,
                    key,
                    name(kind, key)
                            + " is not registered: no registered pod refers to it; register the pod, or another"
                            + " owner that needs it, before reading it",
                    null,
                    false);
        }
    }

    /**
     * The API server answered that the object does not exist. If a later check failed, that failure is the {@linkplain
     * #getCause() cause}; otherwise the cause is null.
     *
     * <p>Has no stack trace: for a pod that waits for its Secret, this is a frequent answer.
     */
    public static final class NotFound extends ObjectUnavailableException {
        public NotFound(ObjectKind<?> kind, ObjectKey key, @Nullable Throwable failedCheck) {
            super(
                    kind,
                    key,
                    name(kind, key) + " not found"
                            + (failedCheck == null
                                    ? ""
                                    : " in the last answer; checking again failed: " + failedCheck.getMessage()),
                    failedCheck,
                    false);
        }
    }

    /** Strategy WATCH: the first list and watch did not succeed in time. The cause is their last failure, if any. */
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

    /** No answer is held for the object, and the fetch failed. */
    public static final class FetchFailed extends ObjectUnavailableException {

        private final FailureReason reason;
        private final int httpCode;
        private final @Nullable Duration retryAfter;

        /**
         * Reports the failed fetch of {@code key}.
         *
         * @param httpCode the HTTP code of the last answer, or 0 if there was none
         * @param retryAfter the pause that the server asked for, or null
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

        /** Returns the HTTP code of the last answer; empty without an answer. */
        public OptionalInt httpCode() {
            return httpCode == 0 ? OptionalInt.empty() : OptionalInt.of(httpCode);
        }

        /** Returns the pause that the server asked for (Retry-After); empty if it asked for none. */
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
