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

    /**
     * No registered referrer refers to the object, so no request was made. For a read of an owner: it did not register the
     * object. For a read without an owner: no owner without a subject refers to it.
     */
    public static final class NotRegistered extends ObjectUnavailableException {
        public NotRegistered(ObjectKind<?> kind, ObjectKey key) {
            super(
                    kind,
                    key,
                    name(kind, key)
                            + " is not registered: no registered pod refers to it; register the pod, or another"
                            + " owner that needs it, before reading it; what an owner on behalf of a subject needs is read with"
                            + " that owner",
                    null,
                    false);
        }
    }

    /**
     * The subject of the owner may not read the object: a review has said so, none was answered in time, or the owner
     * reads on behalf of nobody. It is reviewed again after 30 s at the latest.
     *
     * <p>If the last review failed, the {@linkplain #getCause() cause} is its failure: then the subject may have the right, and
     * a {@code FORBIDDEN} one says that this program may not make reviews. Otherwise the cause is null.
     *
     * <p>Has no stack trace: for an owner that may not read, this is a frequent answer.
     */
    public static final class Denied extends ObjectUnavailableException {

        private final transient @Nullable Subject subject;
        private final String reason;

        /**
         * Reports a read that a subject may not make.
         *
         * @param subject null for nobody
         * @param reason why, for people; "" if the review does not say
         * @param failure of the last review; null if that was answered
         */
        public Denied(
                ObjectKind<?> kind,
                ObjectKey key,
                @Nullable Subject subject,
                String reason,
                @Nullable Throwable failure) {
            super(
                    kind,
                    key,
                    name(kind, key) + " may not be read on behalf of " + (subject == null ? "nobody" : subject)
                            + (reason.isEmpty() ? "" : ": " + Quoted.text(reason)),
                    failure,
                    false);
            this.subject = subject;
            this.reason = reason;
        }

        /** Returns the subject of the owner; null if it reads on behalf of nobody. */
        public @Nullable Subject subject() {
            return subject;
        }

        /** Returns why, as the API server's review says it, or why there is no answer; "" if the review gives no reason. */
        public String reason() {
            return reason;
        }
    }

    /**
     * The API server answered that the object does not exist. If a later check failed, that failure is the {@linkplain
     * #getCause() cause}. If a later check is not answered yet, the cause is a {@link NotSynced} under WATCH, and a {@link
     * FetchFailed} with the reason {@link FailureReason#TIMEOUT} under CACHE. Otherwise the cause is null.
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

    /**
     * Strategy WATCH: the object was not listed and watched in time. The cause is the last failure of the list or the
     * watch, if any. Without one, either the API server was not reached within ten seconds ({@link #reason} is {@link
     * FailureReason#UNAVAILABLE}), or it was asked and did not answer within the first-sync timeout ({@link
     * FailureReason#TIMEOUT}).
     */
    public static final class NotSynced extends ObjectUnavailableException {

        private final FailureReason reason;

        /**
         * Reports a get whose wait ended without an answer.
         *
         * @param reason of {@code lastFailure}; without one, whether the server was reached
         * @param waited how long a get may wait; zero for one that did not wait so long, because the object is refused
         */
        public NotSynced(
                ObjectKind<?> kind,
                ObjectKey key,
                FailureReason reason,
                Duration waited,
                @Nullable Throwable lastFailure) {
            super(
                    kind,
                    key,
                    name(kind, key) + " not synced"
                            + (waited.isZero() ? "" : " within " + waited.toMillis() + " ms")
                            + ": "
                            + (lastFailure == null ? without(reason) : lastFailure.getMessage()),
                    lastFailure,
                    true);
            this.reason = reason;
        }

        private static String without(FailureReason reason) {
            return reason == FailureReason.UNAVAILABLE
                    ? "the API server was not reached, so it was not asked yet; check the address, the network and the"
                            + " credentials"
                    : "no answer yet; get it again, or allow a longer firstSyncTimeout";
        }

        /** Returns why the last list or watch failed, or what there was no time for: see above. */
        public FailureReason reason() {
            return reason;
        }
    }

    /**
     * No answer is held for the object, and the fetch failed. As the cause of a {@link NotFound}: the fetch has not ended in
     * time, and goes on.
     */
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
