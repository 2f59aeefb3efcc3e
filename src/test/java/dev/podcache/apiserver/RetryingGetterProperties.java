package dev.podcache.apiserver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.testing.ManualTimekeeper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** Against a server that always fails, at once, in any way. */
class RetryingGetterProperties {

    private static final ObjectKey DB = ObjectKey.of("shop", "db");

    private record FailedCall(long at, long retryAfterMillis, Duration timeout) {}

    @Property
    void get_anyFailures_endsInTimeAndNeverPausesTooShort(
            @ForAll @IntRange(min = 1, max = 20_000) int budgetMillis,
            @ForAll @DoubleRange(min = 0, max = 0.99) double random,
            @ForAll @Size(min = 1, max = 10) List<FailureReason> reasons,
            @ForAll @Size(min = 1, max = 10) List<@IntRange(min = 0, max = 3000) Integer> retryAfters) {
        ManualTimekeeper time = new ManualTimekeeper();
        List<FailedCall> attempts = new ArrayList<>();
        ObjectGetter<String> failing = (key, source, timeout) -> {
            int number = attempts.size();
            int asked = retryAfters.get(number % retryAfters.size());
            attempts.add(new FailedCall(time.nanoTime(), asked, timeout));
            return CompletableFuture.failedFuture(new ApiServerException(
                    reasons.get(number % reasons.size()), 0, Duration.ofMillis(asked), "failed", null));
        };

        CompletableFuture<Fetched<String>> result = new RetryingGetter<>(failing, time, () -> random)
                .get(DB, ReadSource.QUORUM, Duration.ofMillis(budgetMillis));
        time.advance(Duration.ofMillis(budgetMillis));

        assertThat(result).isCompletedExceptionally();
        assertThat(time.scheduledTasks()).isZero();
        assertThat(attempts)
                .allSatisfy(attempt -> assertThat(attempt.timeout)
                        .isPositive()
                        .isEqualTo(Duration.ofMillis(budgetMillis).minusNanos(attempt.at)));
        for (int i = 1; i < attempts.size(); i++) {
            // a refusal counts as one failure fewer
            boolean refused = reasons.get((i - 1) % reasons.size()) == FailureReason.FORBIDDEN;
            double longest = Math.min(5000, 100 * Math.pow(2, Math.max(0, refused ? i - 2 : i - 1)));
            double pause = (attempts.get(i).at - attempts.get(i - 1).at) / 1e6;
            double asked = attempts.get(i - 1).retryAfterMillis;
            assertThat(pause).isBetween(Math.max(asked, longest / 2), Math.max(asked, longest));
            assertThat(attempts.get(i).at)
                    .isLessThan(Duration.ofMillis(budgetMillis).toNanos());
        }
    }
}
