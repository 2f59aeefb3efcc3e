package dev.podcache.store;

import com.google.common.collect.Comparators;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.NoAnswer;
import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.apiserver.ReadSource;
import dev.podcache.apiserver.Retries;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException.Closed;
import dev.podcache.object.ObjectUnavailableException.FetchFailed;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.ResourceVersions;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The fetches of a store: makes the requests, lets gets wait for them, and maps their outcomes to results and
 * exceptions of gets. Has the only retry loop for reads. Thread-safe.
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
 *
 * <p>A read for which an old answer is known is not retried: gets would rather have the old answer than wait. Every
 * fetch ends, whatever the getter, a timer or the clock throws, because an entry starts no other one before. Once
 * closed, makes no request.
 */
final class Fetches<T extends HasMetadata> {

    /** Respects Retry-After of any length, because a pause that exceeds the read timeout ends the fetch. */
    private static final Retries RETRIES =
            new Retries(Duration.ofMillis(100), Duration.ofSeconds(5)).askedAtMost(ChronoUnit.FOREVER.getDuration());

    private static final Retries AS_ASKED = Retries.atOnce().askedAtMost(ChronoUnit.FOREVER.getDuration());

    private final ObjectKind<T> kind;
    private final String strategy;
    private final ObjectGetter<T> getter;
    private final LongSupplier clock;
    private final StoreOptions options;
    private final DoubleSupplier random;
    private final Set<Fetch<T>> inFlight = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    /** A fetch in progress, shared by all gets that it may answer. */
    static final class Fetch<T> {

        /**
         * The number of this fetch among the fetches of its entry, from 1: tells a get whether the fetch began before
         * it.
         */
        final long number;

        /** The answer held when the fetch began; determines its requests. */
        final @Nullable Answer<T> known;

        /** When the fetch began. */
        final long begunAt;

        /** For how long after its begin a refusal may pass; null for as long as for a read that stands alone. */
        final @Nullable Duration refusedFor;

        /** The last refusal, after which the fetch goes on. Written by the attempts. */
        volatile @Nullable ApiServerException refusal;

        /** What makes the next attempt. Written by the attempts. */
        private volatile Timekeeper.@Nullable Scheduled retry;

        /** Completed once, always normally, after the entry has taken the outcome over. */
        final CompletableFuture<FetchOutcome<T>> outcome = new CompletableFuture<>();

        Fetch(long number, @Nullable Answer<T> known) {
            this(number, known, 0, null);
        }

        Fetch(long number, @Nullable Answer<T> known, long begunAt, @Nullable Duration refusedFor) {
            this.number = number;
            this.known = known;
            this.begunAt = begunAt;
            this.refusedFor = refusedFor;
        }

        /** Returns a fetch that is a quorum read, whatever is held. */
        static <T> Fetch<T> latest(long number) {
            return new Fetch<>(number, null);
        }

        /** Ends the waiting gets, and makes no further attempt, because the store was closed. */
        private void giveUp() {
            outcome.complete(FetchOutcome.closed());
            Timekeeper.Scheduled pending = retry;
            if (pending != null) {
                pending.cancel();
            }
        }

        /** Returns whether this is a quorum read. */
        boolean isLatest() {
            return !(known instanceof Answer.Present);
        }
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

    /**
     * Makes an instance without fetches.
     *
     * @param getter makes one request per call
     * @param clock returns the time of an answer
     */
    Fetches(ObjectKind<T> kind, String strategy, ObjectGetter<T> getter, LongSupplier clock, StoreOptions options) {
        this(
                kind,
                strategy,
                getter,
                clock,
                options,
                () -> ThreadLocalRandom.current().nextDouble());
    }

    /**
     * Makes an instance without fetches.
     *
     * @param random uniform in [0, 1), for the jitter of pauses
     */
    Fetches(
            ObjectKind<T> kind,
            String strategy,
            ObjectGetter<T> getter,
            LongSupplier clock,
            StoreOptions options,
            DoubleSupplier random) {
        this.kind = kind;
        this.strategy = strategy;
        this.getter = getter;
        this.clock = clock;
        this.options = options;
        this.random = random;
    }

    /**
     * Starts {@code fetch}. Calls {@code ended} with the outcome; {@code ended} must complete the fetch. Once this is closed,
     * completes the fetch itself.
     */
    void start(ObjectKey key, Fetch<T> fetch, Consumer<FetchOutcome<T>> ended) {
        long began;
        try {
            began = now();
        } catch (Throwable e) {
            ended.accept(unexpected(e));
            return;
        }
        CompletableFuture<FetchOutcome<T>> request;
        try {
            inFlight.add(fetch);
            // checked after close() can see the fetch, so that one of the two ends it
            if (closed) {
                inFlight.remove(fetch);
                fetch.giveUp();
                return;
            }
            request = request(key, fetch).exceptionally(this::unexpected);
        } catch (Throwable e) {
            request = CompletableFuture.completedFuture(unexpected(e));
        }
        request.thenAccept(outcome -> {
            try {
                inFlight.remove(fetch);
                Duration took = Duration.ofNanos(now() - began);
                options.metrics().fetched(kind, key, cause(fetch.known), reason(outcome), took);
            } finally {
                ended.accept(outcome);
            }
        });
    }

    private CompletableFuture<FetchOutcome<T>> request(ObjectKey key, Fetch<T> fetch) {
        Duration timeout = options.readTimeout();
        Answer<T> known = fetch.known;
        if (known == null) {
            Attempts attempts = new Attempts(key, fetch, now());
            attempts.next();
            return attempts.result.handle(this::outcome);
        }
        if (!(known instanceof Answer.Present<T> present)) {
            return getOnce(key, ReadSource.QUORUM, timeout).handle(this::outcome);
        }
        return getOnce(key, ReadSource.CACHE, timeout)
                .handle(this::outcome)
                .thenCompose(cached -> !closed && mayLag(cached, present)
                        ? getOnce(key, ReadSource.QUORUM, timeout).handle(this::outcome)
                        : CompletableFuture.completedFuture(cached));
    }

    private CompletableFuture<Fetched<T>> getOnce(ObjectKey key, ReadSource source, Duration timeout) {
        try {
            return getter.get(key, source, timeout);
        } catch (Throwable e) {
            return CompletableFuture.failedFuture(NoAnswer.thrown("GET " + key, e));
        }
    }

    /**
     * The attempts of one quorum read, by the table of {@link Retries}, and for refusals by {@link EarlyRefusals}: until
     * an answer, a final failure or the end of the read timeout. An attempt begins when the one before it has ended, so the fields need no lock.
     */
    private final class Attempts {

        /** The object, or exceptionally the failure of the last attempt. */
        final CompletableFuture<Fetched<T>> result = new CompletableFuture<>();

        private final ObjectKey key;
        private final Fetch<T> fetch;
        private final long startedAt;
        private int failures;
        private int refusals;

        Attempts(ObjectKey key, Fetch<T> fetch, long startedAt) {
            this.key = key;
            this.fetch = fetch;
            this.startedAt = startedAt;
        }

        void next() {
            if (closed) {
                return; // close() has ended the fetch
            }
            try {
                getOnce(key, ReadSource.QUORUM, left(options.readTimeout())).whenComplete(this::attempted);
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
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
            try {
                Duration pause = failure.reason() == FailureReason.FORBIDDEN ? refused(failure) : failed(failure);
                if (pause == null) {
                    result.completeExceptionally(failure);
                    return;
                }
                fetch.retry = options.timekeeper().schedule(pause, this::next);
                // checked after close() can see the timer
                if (closed) {
                    fetch.giveUp();
                }
            } catch (Throwable noTime) {
                failure.addSuppressed(noTime);
                result.completeExceptionally(failure);
            }
        }

        private @Nullable Duration failed(ApiServerException failure) {
            failures++;
            Duration pause = RETRIES.pause(failures, random.getAsDouble(), failure);
            return pause.compareTo(left(Retries.repeatedFor(failure.reason(), options.readTimeout()))) < 0
                    ? pause
                    : null;
        }

        private @Nullable Duration refused(ApiServerException refusal) {
            refusals++;
            Duration window = fetch.refusedFor == null ? options.earlyRefusals().getWaits() : fetch.refusedFor;
            Duration early = EarlyRefusals.pause(refusals, Duration.ofNanos(now() - startedAt), window);
            if (early == null || left(options.readTimeout()).compareTo(early) <= 0) {
                return null;
            }
            Duration asked = AS_ASKED.pause(1, 0, refusal);
            if (asked.compareTo(left(Comparators.min(window, options.readTimeout()))) >= 0) {
                return null;
            }
            fetch.refusal = refusal;
            return Comparators.max(early, asked);
        }

        private Duration left(Duration budget) {
            return budget.minusNanos(now() - startedAt);
        }
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
        return answer == null ? serveStale(key, known, outcome.failure()) : answer.objectOf(kind, key);
    }

    /**
     * Returns or throws the known state because a fetch failed with {@code failure}, or is too slow if that is null.
     */
    T serveStale(ObjectKey key, @Nullable Answer<T> known, @Nullable ApiServerException failure) {
        if (known instanceof Answer.Present<T> present) {
            options.metrics().staleServed(kind, key, strategy);
            return present.object;
        }
        if (known == null) {
            throw fetchFailed(key, failure == null ? tooSlow(key) : failure);
        }
        // a check that is late may still find the object: callers can tell it from one that failed
        throw new NotFound(kind, key, failure == null ? fetchFailed(key, tooSlow(key)) : failure);
    }

    private FetchFailed fetchFailed(ObjectKey key, ApiServerException cause) {
        return new FetchFailed(kind, key, cause.reason(), cause.httpCode(), cause.retryAfter(), cause);
    }

    private ApiServerException tooSlow(ObjectKey key) {
        return ApiServerException.withoutAnswer(
                FailureReason.TIMEOUT, "GET " + kind + " " + key, "no answer in time; the request continues", null);
    }

    /**
     * Returns a get that is answered by {@code fetch} alone: any get under GET, or one with a {@code ReadConsistency} under
     * WATCH.
     *
     * @param fetch a quorum read that did not begin before the get
     */
    PendingGet<T> get(ObjectKey key, Fetch<T> fetch) {
        return new LatestGet(key, fetch);
    }

    private final class LatestGet extends PendingGet<T> {

        private final Fetch<T> fetch;
        private final long deadline;
        private boolean begun;

        LatestGet(ObjectKey key, Fetch<T> fetch) {
            super(Fetches.this.kind, key, Fetches.this.options);
            this.fetch = fetch;
            this.deadline = now() + Fetches.this.options.readTimeout().toNanos();
        }

        @Override
        @Nullable
        T proceed(boolean inTime) {
            if (!begun) {
                begun = true;
                return waitFor(fetch.outcome, deadline);
            }
            @Nullable FetchOutcome<T> outcome = fetch.outcome.getNow(null);
            return outcome == null ? serveStale(key, null, null) : conclude(key, null, outcome);
        }
    }

    private long now() {
        return options.timekeeper().nanoTime();
    }

    /** Ends all waiting gets, and later ones, with {@link Closed}. Makes no request from now on. Idempotent. */
    void close() {
        closed = true;
        inFlight.forEach(Fetch::giveUp);
    }
}
