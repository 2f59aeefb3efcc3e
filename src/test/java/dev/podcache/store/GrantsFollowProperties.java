package dev.podcache.store;

import static dev.podcache.store.StoreFixture.DB;
import static dev.podcache.store.TtlFixture.POD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectUnavailableException.NotSynced;
import dev.podcache.testing.ManualTimekeeper;
import java.time.Duration;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** Strategy WATCH where access is granted at any time after the reference, whatever gets there are meanwhile. */
class GrantsFollowProperties {

    private static final long WINDOW = 6_000;

    /** A list, and where it is refused a get, for each time of {@link EarlyRefusalsProperties}. */
    private static final int MOST_REQUESTS = 2 * 11;

    @Property
    void granted_isReadSoon_withoutAGet(
            @ForAll @IntRange(min = 1, max = 5_999) int grantedAt,
            @ForAll @Size(max = 6) List<@IntRange(min = 1, max = 3_000) Integer> pauses) {
        try (WatchFixture f = WatchFixture.grantsFollow(new ManualTimekeeper())) {
            refuse(f);
            f.create(DB, "v1");
            f.store.addReference(DB, POD);
            long now = 0;
            for (int pause : pauses) {
                if (now + pause >= grantedAt) {
                    break;
                }
                now += pause;
                f.timekeeper.advance(Duration.ofMillis(pause));
                assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.WAITING_FOR_ACCESS);
                var unused = f.store.getAsync(DB.namespace(), DB.name());
            }
            f.timekeeper.advance(Duration.ofMillis(grantedAt - now));
            assertThat(f.server.actions().size()).isLessThanOrEqualTo(MOST_REQUESTS);
            f.server.clearFailures();
            f.timekeeper.advance(Duration.ofSeconds(1));

            assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.FRESH);
            f.store.deleteReference(DB, POD);
            f.timekeeper.advance(Duration.ofSeconds(2)); // the timers of gets that were waiting
        }
    }

    @Property(tries = 200)
    void grantedTooLate_isForbiddenUntilAGetAsks(@ForAll @IntRange(min = 0, max = 100_000) int late) {
        try (WatchFixture f = WatchFixture.grantsFollow(ManualTimekeeper.passingWhileWaiting())) {
            refuse(f);
            f.create(DB, "v1");
            f.store.addReference(DB, POD);
            f.timekeeper.advance(Duration.ofMillis(WINDOW));
            assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.FORBIDDEN);
            f.timekeeper.advance(Duration.ofMillis(late));
            assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.FORBIDDEN);
            f.server.clearFailures();
            f.timekeeper.advance(Duration.ofMillis(250));
            getInAnyCase(f);

            assertThat(f.get()).isEqualTo("v1");
            f.store.deleteReference(DB, POD);
        }
    }

    /** Nothing is said if the last refusal was less than 250 ms ago. */
    private static void getInAnyCase(WatchFixture f) {
        try {
            f.get();
        } catch (NotSynced soonAfterARefusal) {
            assertThat(soonAfterARefusal.reason()).isEqualTo(FailureReason.FORBIDDEN);
            f.timekeeper.advance(Duration.ofMillis(250));
        }
    }

    private static void refuse(WatchFixture f) {
        f.server.failNext(
                Integer.MAX_VALUE,
                new ApiServerException(FailureReason.FORBIDDEN, 403, null, "was answered 403", null));
    }
}
