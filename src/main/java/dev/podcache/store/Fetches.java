package dev.podcache.store;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.apiserver.ReadSource;
import dev.podcache.apiserver.RetryingGetter;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException.Closed;
import dev.podcache.object.ObjectUnavailableException.FetchFailed;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.ResourceVersions;
import dev.podcache.store.Fetch.FetchOutcome;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The fetches of a store: makes the requests, lets gets wait for them, and maps their outcomes to results and
 * exceptions of gets. Thread-safe.
 *
 * <table>
 * <caption>Requests</caption>
 * <tr><th>known</th><th>request</th><th>then</th></tr>
 * <tr><td>nothing</td><td>QUORUM, retried within the read timeout</td><td></td></tr>
 * <tr><td>absent</td><td>QUORUM, once</td><td></td></tr>
 * <tr><td>present</td><td>CACHE, once</td><td>QUORUM, once, if the CACHE answer was NotFound or older than the known
 * object: its API server may lag behind the previous one. The QUORUM answer is final, whatever its
 * resourceVersion.</td></tr>
 * </table>
 */
final class Fetches<T extends HasMetadata> {

    final ObjectKind<T> kind;
    private final String strategy;
    private final RetryingGetter<T> getter;
    private final LongSupplier clock;
    private final StoreOptions options;
    private final Set<Fetch<T>> inFlight = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    /**
     * Makes an instance without fetches.
     *
     * @param getter makes one request per call
     * @param clock returns the time of an answer
     */
    Fetches(ObjectKind<T> kind, String strategy, ObjectGetter<T> getter, LongSupplier clock, StoreOptions options) {
        this.kind = kind;
        this.strategy = strategy;
        this.getter = new RetryingGetter<>(
                getter, options.timekeeper(), () -> ThreadLocalRandom.current().nextDouble());
        this.clock = clock;
        this.options = options;
    }

    /**
     * Starts {@code fetch}. Calls {@code ended} with the outcome, whatever the getter throws; {@code ended} must
     * complete the fetch.
     */
    void start(ObjectKey key, Fetch<T> fetch, Consumer<FetchOutcome<T>> ended) {
        inFlight.add(fetch);
        // checked after close() can see the fetch, so that one of the two ends it
        if (closed) {
            fetch.outcome.complete(FetchOutcome.closed());
        }
        long began = options.timekeeper().nanoTime();
        request(key, fetch.known).exceptionally(this::unexpected).thenAccept(outcome -> {
            if (options.metrics() != PodcacheMetrics.NONE) {
                Duration took = Duration.ofNanos(options.timekeeper().nanoTime() - began);
                options.metrics().fetched(kind, key, cause(fetch.known), reason(outcome), took);
            }
            inFlight.remove(fetch);
            ended.accept(outcome);
        });
    }

    private CompletableFuture<FetchOutcome<T>> request(ObjectKey key, @Nullable Answer<T> known) {
        Duration timeout = options.readTimeout();
        if (known == null) {
            return getter.get(key, ReadSource.QUORUM, timeout).handle(this::outcome);
        }
        if (!(known instanceof Answer.Present<T> present)) {
            return getter.getOnce(key, ReadSource.QUORUM, timeout).handle(this::outcome);
        }
        return getter.getOnce(key, ReadSource.CACHE, timeout)
                .handle(this::outcome)
                .thenCompose(cached -> mayLag(cached, present)
                        ? getter.getOnce(key, ReadSource.QUORUM, timeout).handle(this::outcome)
                        : CompletableFuture.completedFuture(cached));
    }

    private boolean mayLag(FetchOutcome<T> cached, Answer.Present<T> known) {
        Answer<T> answer = cached.answer();
        return answer instanceof Answer.Absent
                || (answer instanceof Answer.Present<T> present
                        && ResourceVersions.isOlder(present.resourceVersion, known.resourceVersion));
    }

    private FetchOutcome<T> outcome(@Nullable Fetched<T> fetched, @Nullable Throwable thrown) {
        if (fetched != null) {
            return FetchOutcome.answered(Answer.present(kind, fetched, options.budget().shared, clock.getAsLong()));
        }
        Throwable cause = ApiServerException.causeOf(thrown);
        if (!(cause instanceof ApiServerException failure)) {
            return unexpected(cause);
        }
        return failure.reason() == FailureReason.NOT_FOUND
                ? FetchOutcome.answered(new Answer.Absent<>(clock.getAsLong()))
                : FetchOutcome.failed(failure);
    }

    private FetchOutcome<T> unexpected(Throwable thrown) {
        return FetchOutcome.failed(ApiServerException.withoutAnswer(
                FailureReason.UNREADABLE,
                "GET " + kind,
                "the adapter failed unexpectedly",
                ApiServerException.causeOf(thrown)));
    }

    private static String cause(@Nullable Answer<?> known) {
        if (known == null) {
            return "first read";
        }
        return known instanceof Answer.Absent ? "absent" : "expired";
    }

    private static @Nullable FailureReason reason(FetchOutcome<?> ended) {
        if (ended.failure() != null) {
            return ended.failure().reason();
        }
        return ended.isPresent() ? null : FailureReason.NOT_FOUND;
    }

    /**
     * Returns or throws the result of a get whose fetch has ended: the answer, or the known state if the fetch failed.
     */
    T conclude(ObjectKey key, @Nullable Answer<T> known, FetchOutcome<T> outcome) {
        if (outcome.isClosed()) {
            throw new Closed(kind, key);
        }
        Answer<T> answer = outcome.answer();
        return answer == null ? serveStale(key, known, outcome.failure()) : serve(key, answer, null);
    }

    /**
     * Returns or throws the known state because a fetch failed with {@code failure}, or is too slow if that is null.
     */
    T serveStale(ObjectKey key, @Nullable Answer<T> known, @Nullable ApiServerException failure) {
        ApiServerException cause = failure == null ? tooSlow(key) : failure;
        if (known == null) {
            throw new FetchFailed(kind, key, cause.reason(), cause.httpCode(), cause.retryAfter(), cause);
        }
        if (known instanceof Answer.Present) {
            options.metrics().staleServed(kind, key, strategy);
        }
        return serve(key, known, cause);
    }

    private T serve(ObjectKey key, Answer<T> answer, @Nullable ApiServerException failedCheck) {
        if (answer instanceof Answer.Present<T> present) {
            return present.object;
        }
        throw new NotFound(kind, key, failedCheck);
    }

    private ApiServerException tooSlow(ObjectKey key) {
        return ApiServerException.withoutAnswer(
                FailureReason.TIMEOUT, "GET " + kind + " " + key, "no answer in time; the request continues", null);
    }

    /** Ends all waiting gets, and later ones, with {@link Closed}. Idempotent. */
    void close() {
        closed = true;
        inFlight.forEach(fetch -> fetch.outcome.complete(FetchOutcome.closed()));
    }
}
