package dev.podcache.time;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ManualTimekeeper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class TokenBucketProperties {

    @Property
    void take_anyCallers_neverMoreThanBurstPlusRateInAnyWindow(
            @ForAll @IntRange(min = 1, max = 100) int perSecond,
            @ForAll @IntRange(min = 1, max = 20) int burst,
            @ForAll @Size(min = 1, max = 60) List<@IntRange(min = 0, max = 500) Integer> gapsMillis) {
        ManualTimekeeper time = new ManualTimekeeper();
        TokenBucket bucket = new TokenBucket(perSecond, burst, time);
        List<Long> sendings = new ArrayList<>();
        for (int gap : gapsMillis) {
            time.advance(Duration.ofMillis(gap));
            bucket.take(Duration.ofDays(1)).ifPresent(wait -> sendings.add(time.nanoTime() + wait.toNanos()));
        }

        assertThat(sendings).hasSameSizeAs(gapsMillis).isSorted();
        for (int from = 0; from < sendings.size(); from++) {
            for (int to = from; to < sendings.size(); to++) {
                double window = (sendings.get(to) - sendings.get(from)) / 1e9;
                assertThat(to - from + 1.0).isLessThanOrEqualTo(burst + window * perSecond + 1e-6);
            }
        }
    }

    @Property
    void take_slowerThanTheRate_neverWaits(
            @ForAll @IntRange(min = 1, max = 100) int perSecond, @ForAll @IntRange(min = 1, max = 20) int burst) {
        ManualTimekeeper time = new ManualTimekeeper();
        TokenBucket bucket = new TokenBucket(perSecond, burst, time);
        for (int i = 0; i < 50; i++) {
            assertThat(bucket.take(Duration.ofNanos(1))).contains(Duration.ZERO);
            time.advance(Duration.ofNanos(1_000_000_000L / perSecond + 1));
        }
    }
}
