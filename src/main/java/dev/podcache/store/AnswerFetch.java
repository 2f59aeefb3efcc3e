package dev.podcache.store;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.Freshness;
import dev.podcache.apiserver.RetryingGetter;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ResourceVersions;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Which requests a fetch is made of, by what is known already. Keeps no state.
 *
 * <table>
 * <caption>Requests</caption>
 * <tr><th>known</th><th>request</th><th>then</th></tr>
 * <tr><td>nothing</td><td>LATEST, repeated while the read timeout lasts</td><td></td></tr>
 * <tr><td>absent</td><td>LATEST, once</td><td></td></tr>
 * <tr><td>present</td><td>CACHED, once</td><td>LATEST, once, if that was older than what is known, or NotFound: the API
 * server that answered may lag behind the one before. Its outcome is final, whatever its resourceVersion.</td></tr>
 * </table>
 */
final class AnswerFetch<T extends HasMetadata> {

    private final ObjectKind<T> kind;
    private final RetryingGetter<T> getter;
    private final LongSupplier clock;
    private final StoreOptions options;

    AnswerFetch(ObjectKind<T> kind, RetryingGetter<T> getter, LongSupplier clock, StoreOptions options) {
        this.kind = kind;
        this.getter = getter;
        this.clock = clock;
        this.options = options;
    }

    /** Begins a fetch. The future always completes normally, also if the getter or the clock throws. */
    CompletableFuture<Outcome<T>> begin(ObjectKey key, @Nullable Answer<T> known) {
        long began = options.timekeeper().nanoTime();
        CompletableFuture<Outcome<T>> outcome = request(key, known).exceptionally(this::unexpected);
        if (options.metrics() == PodcacheMetrics.NONE) {
            return outcome;
        }
        return outcome.whenComplete((ended, bug) -> {
            Duration took = Duration.ofNanos(options.timekeeper().nanoTime() - began);
            options.metrics().fetched(kind, key, why(known), reason(ended), took);
        });
    }

    private CompletableFuture<Outcome<T>> request(ObjectKey key, @Nullable Answer<T> known) {
        Duration timeout = options.readTimeout();
        if (known == null) {
            return getter.get(key, Freshness.LATEST, timeout).handle(this::outcome);
        }
        if (!(known instanceof Answer.Present<T> present)) {
            return getter.getOnce(key, Freshness.LATEST, timeout).handle(this::outcome);
        }
        return getter.getOnce(key, Freshness.CACHED, timeout)
                .handle(this::outcome)
                .thenCompose(cached -> mayLag(cached, present)
                        ? getter.getOnce(key, Freshness.LATEST, timeout).handle(this::outcome)
                        : CompletableFuture.completedFuture(cached));
    }

    private boolean mayLag(Outcome<T> cached, Answer.Present<T> known) {
        Answer<T> answer = cached.answer();
        return answer instanceof Answer.Absent
                || (answer instanceof Answer.Present<T> present
                        && ResourceVersions.isOlder(present.resourceVersion, known.resourceVersion));
    }

    private Outcome<T> outcome(@Nullable Fetched<T> fetched, @Nullable Throwable thrown) {
        if (fetched != null) {
            T object = fetched.object();
            return Outcome.answered(new Answer.Present<>(
                    clock.getAsLong(),
                    object,
                    fetched.resourceVersion(),
                    fetched.encodedBytes(),
                    kind.isImmutable(object)));
        }
        Throwable cause = ApiServerException.causeOf(thrown);
        if (!(cause instanceof ApiServerException failure)) {
            return unexpected(cause);
        }
        return failure.reason() == FailureReason.NOT_FOUND
                ? Outcome.answered(new Answer.Absent<>(clock.getAsLong()))
                : Outcome.failed(failure);
    }

    private Outcome<T> unexpected(Throwable thrown) {
        return Outcome.failed(ApiServerException.withoutAnswer(
                FailureReason.UNREADABLE,
                "GET " + kind,
                "the adapter failed unexpectedly",
                ApiServerException.causeOf(thrown)));
    }

    private static String why(@Nullable Answer<?> known) {
        if (known == null) {
            return "first read";
        }
        return known instanceof Answer.Absent ? "absent" : "expired";
    }

    private static @Nullable FailureReason reason(Outcome<?> ended) {
        if (ended.failure() != null) {
            return ended.failure().reason();
        }
        return ended.isPresent() ? null : FailureReason.NOT_FOUND;
    }
}
