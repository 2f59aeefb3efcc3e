package dev.podcache.store;

import dev.podcache.apiserver.ApiServerException;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A fetch in progress, shared by all gets that it may answer. */
final class Fetch<T> {

    /**
     * The number of this fetch among the fetches of its entry, from 1: tells a get whether the fetch began before it.
     */
    final long number;

    /** The answer held when the fetch began; determines its requests. */
    final @Nullable Answer<T> known;

    /** Completed once, always normally, after the entry has taken the outcome over. */
    final CompletableFuture<FetchOutcome<T>> outcome = new CompletableFuture<>();

    Fetch(long number, @Nullable Answer<T> known) {
        this.number = number;
        this.known = known;
    }

    /** Returns a fetch that is a quorum read, whatever is held. */
    static <T> Fetch<T> latest(long number) {
        return new Fetch<>(number, null);
    }

    /** Returns whether this is a quorum read. */
    boolean isLatest() {
        return !(known instanceof Answer.Present);
    }

    /**
     * The outcome of a fetch.
     *
     * @param answer the API server's answer; null if the fetch failed or the store was closed
     * @param failure why the fetch failed; null with an answer, or if the store was closed
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
