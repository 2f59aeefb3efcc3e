package dev.podcache.store;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException.Closed;
import dev.podcache.object.ObjectUnavailableException.FetchFailed;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The fetches under way in one store: sets them off, waits for them, and turns how they end into what a get
 * returns or throws. Thread-safe.
 */
final class Flights<T extends HasMetadata> {

    private final ObjectKind<T> kind;
    private final String strategy;
    private final AnswerFetch<T> fetch;
    private final StoreOptions options;
    private final Set<Flight<T>> underWay = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    Flights(ObjectKind<T> kind, String strategy, AnswerFetch<T> fetch, StoreOptions options) {
        this.kind = kind;
        this.strategy = strategy;
        this.fetch = fetch;
        this.options = options;
    }

    /** Begins the fetch of {@code flight}; {@code landing} takes over its outcome and then completes it. */
    void launch(ObjectKey key, Flight<T> flight, Consumer<Outcome<T>> landing) {
        underWay.add(flight);
        // asked when close() can see the flight already, so that one of the two ends it
        if (closed) {
            flight.landed.complete(Outcome.closed());
        }
        fetch.begin(key, flight.known).thenAccept(outcome -> {
            underWay.remove(flight);
            landing.accept(outcome);
        });
    }

    /**
     * Waits for a flight; whether it landed in time.
     *
     * @throws FetchFailed if the thread is interrupted, which it then still is
     */
    boolean landsWithin(Duration patience, ObjectKey key, Flight<T> flight) {
        if (flight.landed.isDone()) {
            return true;
        }
        try {
            return options.timekeeper().await(flight.landed, patience);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new FetchFailed(kind, key, FailureReason.INTERRUPTED, 0, null, e);
        }
    }

    /** What a get makes of a flight that landed: its answer, or if it has none, what is known anyway. */
    T conclude(ObjectKey key, @Nullable Answer<T> known, Outcome<T> outcome) {
        if (outcome.isClosed()) {
            throw new Closed(kind, key);
        }
        Answer<T> answer = outcome.answer();
        return answer == null ? serveStale(key, known, outcome.failure()) : serve(key, answer, null);
    }

    /** What a get makes of what is known, because asking failed with {@code failure}, or null if it takes too long. */
    T serveStale(ObjectKey key, @Nullable Answer<T> known, @Nullable ApiServerException failure) {
        ApiServerException why = failure == null ? late(key) : failure;
        if (known == null) {
            throw new FetchFailed(kind, key, why.reason(), why.httpCode(), why.retryAfter(), why);
        }
        if (known instanceof Answer.Present) {
            options.metrics().staleServed(kind, key, strategy);
        }
        return serve(key, known, why);
    }

    private T serve(ObjectKey key, Answer<T> answer, @Nullable ApiServerException failedCheck) {
        if (answer instanceof Answer.Present<T> present) {
            return present.object;
        }
        throw new NotFound(kind, key, failedCheck);
    }

    private ApiServerException late(ObjectKey key) {
        return ApiServerException.withoutAnswer(
                FailureReason.TIMEOUT, "GET " + kind + " " + key, "no answer in time, still waiting", null);
    }

    /** Ends all gets that wait, with {@link Closed}, and those to come. Idempotent. */
    void close() {
        closed = true;
        underWay.forEach(flight -> flight.landed.complete(Outcome.closed()));
    }
}
