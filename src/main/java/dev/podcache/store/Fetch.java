package dev.podcache.store;

import dev.podcache.apiserver.ApiServerException;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** One fetch under way, shared by all gets that may be answered by it. */
final class Fetch<T> {

    /** Counts the fetches of an entry from 1, so that a get can tell whether this one began before it did. */
    final long number;

    /** What was known when it began; decides which requests it is made of. */
    final @Nullable Answer<T> known;

    /** Completed once, always normally, after the entry took the outcome over. */
    final CompletableFuture<FetchOutcome<T>> outcome = new CompletableFuture<>();

    Fetch(long number, @Nullable Answer<T> known) {
        this.number = number;
        this.known = known;
    }

    /**
     * How a fetch ended.
     *
     * @param answer what the API server said; null if it could not be asked
     * @param failure why it could not be asked; null if it said something, and null too if the store was closed
     *     meanwhile
     */
    record FetchOutcome<T>(
            @Nullable Answer<T> answer, @Nullable ApiServerException failure) {

        static <T> FetchOutcome<T> answered(Answer<T> answer) {
            return new FetchOutcome<>(answer, null);
        }

        static <T> FetchOutcome<T> failed(ApiServerException failure) {
            return new FetchOutcome<>(null, failure);
        }

        static <T> FetchOutcome<T> closed() {
            return new FetchOutcome<>(null, null);
        }

        boolean isPresent() {
            return answer instanceof Answer.Present;
        }

        boolean isClosed() {
            return answer == null && failure == null;
        }
    }
}
