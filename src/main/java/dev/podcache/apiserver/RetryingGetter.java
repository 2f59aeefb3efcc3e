package dev.podcache.apiserver;

import dev.podcache.object.ObjectKey;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.CompletableFuture;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Retries the attempts of an {@link ObjectGetter}, by the table of {@link Retries}, until the caller's deadline. This
 * is the only retry loop for reads; an attempt itself never retries. Thread-safe.
 *
 * @param <T> the model class
 */
public final class RetryingGetter<T> {

    /** Respects Retry-After of any length, because a pause that exceeds the budget ends the get. */
    private static final Retries RETRIES =
            new Retries(Duration.ofMillis(100), Duration.ofSeconds(5)).askedAtMost(ChronoUnit.FOREVER.getDuration());

    private final ObjectGetter<T> getter;
    private final Timekeeper timekeeper;
    private final DoubleSupplier random;

    /**
     * Creates a getter that retries.
     *
     * @param getter makes the attempts
     * @param timekeeper measures the budget and schedules the attempts
     * @param random uniform in [0, 1), for the jitter of pauses
     */
    public RetryingGetter(ObjectGetter<T> getter, Timekeeper timekeeper, DoubleSupplier random) {
        this.getter = getter;
        this.timekeeper = timekeeper;
        this.random = random;
    }

    /**
     * Reads the object in a single attempt, as {@link ObjectGetter#get} does, for callers that would rather serve an
     * old answer than wait for retries.
     */
    public CompletableFuture<Fetched<T>> getOnce(ObjectKey key, ReadSource source, Duration timeout) {
        try {
            return getter.get(key, source, timeout);
        } catch (RuntimeException | Error e) {
            // to rethrow it would leave the gets that share this attempt without an answer
            return CompletableFuture.failedFuture(NoAnswer.thrown("GET " + key, e));
        }
    }

    /**
     * Reads the object, with retries until an answer, a final failure or the end of {@code budget}. Returns at once and
     * never throws.
     *
     * @param budget the time for all attempts and pauses together, positive
     * @return the object, or exceptionally the {@link ApiServerException} of the last attempt
     */
    public CompletableFuture<Fetched<T>> get(ObjectKey key, ReadSource source, Duration budget) {
        Attempts attempts = new Attempts(key, source, timekeeper.nanoTime(), budget);
        attempts.next();
        return attempts.result;
    }

    /** The attempts of one get. They run one after another, so the state needs no lock. */
    private final class Attempts {

        final CompletableFuture<Fetched<T>> result = new CompletableFuture<>();
        private final ObjectKey key;
        private final ReadSource source;
        private final long startedAt;
        private final Duration budget;
        private int failures;

        Attempts(ObjectKey key, ReadSource source, long startedAt, Duration budget) {
            this.key = key;
            this.source = source;
            this.startedAt = startedAt;
            this.budget = budget;
        }

        void next() {
            Duration left = budget.minus(spent());
            getOnce(key, source, left).whenComplete(this::attempted);
        }

        private void attempted(@Nullable Fetched<T> fetched, @Nullable Throwable thrown) {
            if (fetched != null) {
                result.complete(fetched);
                return;
            }
            Throwable cause = ApiServerException.causeOf(thrown);
            if (!(cause instanceof ApiServerException failure)) {
                result.completeExceptionally(cause);
                return;
            }
            failures++;
            Duration pause = RETRIES.pause(failures, random.getAsDouble(), failure);
            Duration left = Retries.repeatedFor(failure.reason(), budget).minus(spent());
            if (pause.compareTo(left) >= 0) {
                result.completeExceptionally(failure);
                return;
            }
            timekeeper.schedule(pause, this::next);
        }

        private Duration spent() {
            return Duration.ofNanos(timekeeper.nanoTime() - startedAt);
        }
    }
}
