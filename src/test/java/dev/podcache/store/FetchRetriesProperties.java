package dev.podcache.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKind;
import dev.podcache.store.Fetches.Fetch;
import dev.podcache.testing.ManualTimekeeper;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** Against a server that always fails, at once, in any way. */
class FetchRetriesProperties {

    private record FailedCall(long at, long retryAfterMillis, Duration timeout) {}

    /** That there is no such object is no failure of a fetch. */
    @Provide
    Arbitrary<FailureReason> failures() {
        return Arbitraries.of(FailureReason.class).filter(reason -> reason != FailureReason.NOT_FOUND);
    }

    @Property
    void anyFailures_endInTimeAndPausesAreNeverTooShort(
            @ForAll @IntRange(min = 1, max = 20_000) int timeoutMillis,
            @ForAll @DoubleRange(min = 0, max = 0.99) double random,
            @ForAll @Size(min = 1, max = 10) List<@From("failures") FailureReason> reasons,
            @ForAll @Size(min = 1, max = 10) List<@IntRange(min = 0, max = 3000) Integer> retryAfters) {
        ManualTimekeeper time = new ManualTimekeeper();
        Duration readTimeout = Duration.ofMillis(timeoutMillis);
        List<FailedCall> attempts = new ArrayList<>();
        ObjectGetter<Secret> failing = (key, source, timeout) -> {
            int number = attempts.size();
            int asked = retryAfters.get(number % retryAfters.size());
            attempts.add(new FailedCall(time.nanoTime(), asked, timeout));
            return CompletableFuture.failedFuture(new ApiServerException(
                    reasons.get(number % reasons.size()), 0, Duration.ofMillis(asked), "failed", null));
        };

        Fetch<Secret> fetch = Fetch.latest(1);
        new Fetches<>(
                        ObjectKind.SECRET,
                        "CACHE",
                        failing,
                        time::nanoTime,
                        new StoreOptions(time, readTimeout, PayloadBudget.unlimited(time), PodcacheMetrics.NONE),
                        () -> random)
                .start(StoreFixture.DB, fetch, fetch.outcome::complete);
        time.advance(readTimeout);

        assertThat(fetch.outcome).isCompletedWithValueMatching(outcome -> outcome.failure() != null);
        assertThat(time.scheduledTasks()).isZero();
        assertThat(attempts)
                .allSatisfy(attempt ->
                        assertThat(attempt.timeout).isPositive().isEqualTo(readTimeout.minusNanos(attempt.at)));
        int refusals = 0;
        for (int i = 1; i < attempts.size(); i++) {
            boolean refused = reasons.get((i - 1) % reasons.size()) == FailureReason.FORBIDDEN;
            refusals += refused ? 1 : 0;
            double pause = (attempts.get(i).at - attempts.get(i - 1).at) / 1e6;
            double asked = attempts.get(i - 1).retryAfterMillis;
            double longest = refused
                    ? Math.min(50 * Math.pow(2, refusals - 1), 1000 - attempts.get(i - 1).at / 1e6)
                    : Math.min(5000, 100 * Math.pow(2, i - refusals - 1));
            double shortest = refused ? longest : longest / 2;
            assertThat(pause).isBetween(Math.max(asked, shortest) - 0.001, Math.max(asked, longest) + 0.001);
            assertThat(attempts.get(i).at).isLessThan(readTimeout.toNanos());
        }
    }
}
