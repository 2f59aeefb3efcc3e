package dev.podcache.store;

import static dev.podcache.store.StoreFixture.DB;
import static dev.podcache.store.TtlFixture.POD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Verb;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.ManualTimekeeper;
import java.time.Duration;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.jspecify.annotations.Nullable;

/**
 * How often strategy WATCH asks a server that fails: ever more seldom, however many gets there are meanwhile. Only for an
 * object that is refused, a get asks once more.
 */
class WatchRetriesProperties {

    private static final Duration FIRST_PAUSE = Duration.ofMillis(200);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

    /** A list, where it is refused a get and another list, and a watch. */
    private static final int MOST_REQUESTS_OF_AN_ATTEMPT = 4;

    /** A refusal counts one less, and a version that was forgotten is listed anew at once. */
    private static final int ATTEMPTS_WITHOUT_A_PAUSE = 2;

    @Property
    void failingServer_isAskedEverMoreSeldom(
            @ForAll("reasons") FailureReason reason,
            @ForAll("verbs") @Nullable Verb verb,
            @ForAll boolean syncedBefore,
            @ForAll @Size(min = 1, max = 12) List<@IntRange(min = 1, max = 60_000) Integer> pauses) {
        try (WatchFixture f = new WatchFixture(ManualTimekeeper.passingWhileWaiting(), PodcacheMetrics.NONE)) {
            f.create(DB, "v1");
            if (syncedBefore) {
                f.store.addReference(DB, POD);
                f.get();
            }
            RequestPattern failing =
                    verb == null ? RequestPattern.any() : RequestPattern.any().verb(verb);
            f.server.failNext(
                    Integer.MAX_VALUE,
                    // with an HTTP code: the server is there, so this object's own pauses count
                    new ApiServerException(reason, 500, null, "a request failed for the test", null),
                    failing);
            long begun = f.timekeeper.nanoTime();
            f.server.clearActions();
            f.server.resetWatches();
            if (!syncedBefore) {
                f.store.addReference(DB, POD);
            }

            int asked = 0; // by gets: each may ask for an object that is refused
            for (int pause : pauses) {
                f.timekeeper.advance(Duration.ofMillis(pause));
                asked += reason == FailureReason.FORBIDDEN ? 1 : 0;
                getInAnyCase(f);
                Duration outage = Duration.ofNanos(f.timekeeper.nanoTime() - begun);
                assertThat(f.server.actions().size())
                        .as("requests in %s", outage)
                        .isLessThanOrEqualTo(MOST_REQUESTS_OF_AN_ATTEMPT * (mostAttempts(outage) + asked));
            }
            f.store.deleteReference(DB, POD);
        }
    }

    private static void getInAnyCase(WatchFixture f) {
        try {
            f.get();
        } catch (RuntimeException nothingKnown) {
            assertThat(f.store.state(DB).lastFailure()).isNotNull();
        }
    }

    /** One at once, and one after each of the shortest pauses that there may be. */
    private static int mostAttempts(Duration outage) {
        int attempts = 1 + ATTEMPTS_WITHOUT_A_PAUSE;
        Duration pause = FIRST_PAUSE.dividedBy(2);
        Duration left = outage.minus(pause);
        while (!left.isNegative()) {
            attempts++;
            Duration twice = pause.multipliedBy(2);
            pause = twice.compareTo(LONGEST_PAUSE.dividedBy(2)) < 0 ? twice : LONGEST_PAUSE.dividedBy(2);
            left = left.minus(pause);
        }
        return attempts;
    }

    @Provide
    Arbitrary<FailureReason> reasons() {
        return Arbitraries.of(
                FailureReason.UNAVAILABLE,
                FailureReason.FORBIDDEN,
                FailureReason.THROTTLED,
                FailureReason.EXPIRED,
                FailureReason.UNREADABLE,
                FailureReason.TIMEOUT);
    }

    /** What fails; null for all. */
    @Provide
    Arbitrary<Verb> verbs() {
        return Arbitraries.of(Verb.WATCH, Verb.LIST).injectNull(0.5);
    }
}
