package dev.podcache.apiserver;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ReadConsistency;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.CompletableFuture;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Repeats an {@link ObjectGetter}'s attempts as long as that can help, by the table of {@link Retries}, and
 * the next one still begins before the caller's deadline. The only retry loop for reads: attempts themselves
 * never repeat anything. Thread-safe.
 *
 * @param <T> the model class
 */
public final class RetryingGetter<T> {

    /** Whatever the server asks for: what does not fit the budget ends the get. */
    private static final Retries RETRIES =
            new Retries(Duration.ofMillis(100), Duration.ofSeconds(5)).askedAtMost(ChronoUnit.FOREVER.getDuration());

    private final ObjectGetter<T> getter;
    private final Timekeeper timekeeper;
    private final DoubleSupplier random;

    /**
     * Repeats the attempts of {@code getter}.
     *
     * @param getter makes the attempts
     * @param timekeeper measures and pauses
     * @param random uniform in [0, 1), for the jitter of pauses
     */
    public RetryingGetter(ObjectGetter<T> getter, Timekeeper timekeeper, DoubleSupplier random) {
        this.getter = getter;
        this.timekeeper = timekeeper;
        this.random = random;
    }

    /**
     * One attempt, as {@link ObjectGetter#get} makes it: for callers that have an answer in hand
     * and rather serve that than wait.
     */
    public CompletableFuture<Fetched<T>> getOnce(ObjectKey key, ReadConsistency freshness, Duration timeout) {
        try {
            return getter.get(key, freshness, timeout);
        } catch (RuntimeException | Error e) {
            // thrown on, it would leave the gets that share this attempt waiting
            return CompletableFuture.failedFuture(NoAnswer.thrown("GET " + key, e));
        }
    }

    /**
     * Attempts until an answer, a final failure or the end of {@code budget}. Returns at once and never throws.
     *
     * @param budget positive: for all attempts and pauses together
     * @return the object, or exceptionally the {@link ApiServerException} of the last attempt
     */
    public CompletableFuture<Fetched<T>> get(ObjectKey key, ReadConsistency freshness, Duration budget) {
        Attempts attempts = new Attempts(key, freshness, timekeeper.nanoTime(), budget);
        attempts.next();
        return attempts.result;
    }

    /** The attempts of one get. Each runs after the one before it, so its state needs no lock. */
    private final class Attempts {

        final CompletableFuture<Fetched<T>> result = new CompletableFuture<>();
        private final ObjectKey key;
        private final ReadConsistency freshness;
        private final long began;
        private final Duration budget;
        private int failures;

        Attempts(ObjectKey key, ReadConsistency freshness, long began, Duration budget) {
            this.key = key;
            this.freshness = freshness;
            this.began = began;
            this.budget = budget;
        }

        void next() {
            Duration left = budget.minus(spent());
            getOnce(key, freshness, left).whenComplete(this::attempted);
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
            return Duration.ofNanos(timekeeper.nanoTime() - began);
        }
    }
}
