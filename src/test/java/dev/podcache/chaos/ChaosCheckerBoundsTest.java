package dev.podcache.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.chaos.Claims.Epoch;
import dev.podcache.object.CacheState;
import dev.podcache.object.ObjectState;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The checker complains of what breaks P7 to P10, and of nothing else. */
class ChaosCheckerBoundsTest extends CheckerFixture {

    // P7

    @Test
    void answer_thatIsNotTheServersPresentState_isNotConverged() {
        assertThat(Ending.isConverged(history, found("v2"))).isTrue();
        assertThat(Ending.isConverged(history, found("v1"))).isFalse();
        assertThat(Ending.isConverged(history, notFound())).isFalse();
        write(null, 30);
        assertThat(Ending.isConverged(history, notFound())).isTrue();
        assertThat(Ending.isConverged(history, failed("refused"))).isFalse();
    }

    // P8

    @Test
    void get_thatTakesLongerThanItMay_breaksP8() {
        Read read = get(DB_HELD, 21, found("v2"));
        Read.Moment after =
                new Read.Moment(seconds(35), DB_HELD, true, read.after().state());

        assertThat(shapes(cache, new Read(DB, read.before(), read.outcome(), after)))
                .containsExactly(Shape.TOOK_TOO_LONG);
    }

    @Test
    void getOfAKnownObject_thatWaitsForTheReadTimeout_breaksP8() {
        Read read = seen(get(DB_HELD, 21, found("v2")));
        Read.Moment after =
                new Read.Moment(seconds(31), DB_HELD, true, read.after().state());

        assertThat(shapes(cache, new Read(DB, read.before(), read.outcome(), after)))
                .containsExactly(Shape.TOOK_TOO_LONG);
    }

    // P9

    @Test
    void fresh_longAfterItWasReplaced_breaksP9() {
        assertThat(shapes(cache, get(DB_HELD, 60, found("v1")))).containsExactly(Shape.OUTDATED);
        assertThat(shapes(watch, get(DB_HELD, 60, found("v1")))).containsExactly(Shape.OUTDATED);
    }

    @Test
    void fresh_longAfterItWasReplacedWhileTheServersCacheIsBehind_isFine() {
        calm.end(false, true);

        assertThat(shapes(cache, get(DB_HELD, 60, found("v1")))).isEmpty();
        calm.behindUntil(seconds(59));
        assertThat(shapes(cache, get(DB_HELD, 60, found("v1")))).containsExactly(Shape.OUTDATED);
    }

    @Test
    void fresh_althoughTheLatestAttemptFailed_breaksP9() {
        Read read = get(DB_HELD, 21, found("v2"));
        ObjectState state = new ObjectState(CacheState.FRESH, "1", null, new IllegalStateException("refused"), 1, "");

        assertThat(shapes(
                        watch,
                        new Read(
                                DB,
                                read.before(),
                                read.outcome(),
                                new Read.Moment(read.after().time(), DB_HELD, true, state))))
                .containsExactly(Shape.FRESH_AFTER_FAILURE);
    }

    @Test
    void fresh_longAfterTheClientSawTheLatestAttemptFail_breaksP9UnderCache() {
        Read read = get(DB_HELD, 21, found("v2"));

        assertThat(shapes(cache, read.with(new Contact(0, millis(400))))).isEmpty();
        assertThat(shapes(cache, read.with(new Contact(0, millis(600))))).containsExactly(Shape.FRESH_AFTER_FAILURE);
        assertThat(shapes(watch, read.with(new Contact(0, millis(600))))).isEmpty();
    }

    @Test
    void fresh_longAfterTheServerLostTheWatch_breaksP9UnderWatch() {
        Read read = get(DB_HELD, 21, found("v2"));

        assertThat(shapes(watch, read.with(new Contact(millis(900), 0)))).isEmpty();
        assertThat(shapes(watch, read.with(new Contact(millis(1_100), 0)))).containsExactly(Shape.FRESH_WITHOUT_WATCH);
        assertThat(shapes(cache, read.with(new Contact(millis(1_100), 0)))).isEmpty();
    }

    @Test
    void fresh_inCalm_isHeldToLess() {
        assertThat(shapes(watch, get(DB_HELD, 23, found("v1")))).isEmpty();
        calm.begin(seconds(21));

        assertThat(shapes(watch, get(DB_HELD, 22, found("v1")))).isEmpty();
        assertThat(shapes(watch, get(DB_HELD, 23, found("v1")))).containsExactly(Shape.OUTDATED_IN_CALM);
        assertThat(shapes(cache, get(DB_HELD, 23, found("v1")))).containsExactly(Shape.OUTDATED_IN_CALM);
    }

    @Test
    void fresh_inCalmOfAProcessThatStoodStill_isFine() {
        calm.begin(seconds(21));
        Read read = get(DB_HELD, 23, found("v1"));

        assertThat(shapes(
                        watch,
                        new Read(DB, read.before(), read.outcome(), read.after(), 0, millis(600), Contact.GOOD, false)))
                .isEmpty();
    }

    @Test
    void stale_longAfterItWasReplaced_isFine() {
        Read fresh = get(DB_HELD, 60, found("v1"));
        Read.Moment before = new Read.Moment(seconds(60), DB_HELD, true, state(CacheState.STALE, "1"));

        assertThat(shapes(cache, new Read(DB, before, fresh.outcome(), fresh.after())))
                .isEmpty();
    }

    @Test
    void immutable_longAfterItWasReplaced_isFine() {
        Version forEver = history.propose("v3", true, seconds(30));
        history.applied(forEver, seconds(31));
        write(null, 32);

        assertThat(shapes(cache, get(DB_HELD, 90, found("v3")))).isEmpty();
    }

    @Test
    void watchedAbsence_longAfterItEnded_breaksP9() {
        Read absent = get(held(new Epoch(0, 0)), 60, notFound());
        Read.Moment before = new Read.Moment(seconds(60), absent.before().claim(), false, state(CacheState.ABSENT, ""));
        Read.Moment after = new Read.Moment(seconds(60), absent.before().claim(), true, state(CacheState.ABSENT, ""));

        assertThat(shapes(watch, new Read(DB, before, absent.outcome(), after))).containsExactly(Shape.OUTDATED);
    }

    // P10

    @Test
    void payloadInAMessage_breaksP10() {
        assertThat(shapes(cache, get(DB_HELD, 21, failed(ChaosCanary.TEXT + "v1"))))
                .containsExactly(Shape.PAYLOAD_IN_MESSAGE);
        assertThat(shapes(cache, get(DB_HELD, 21, failed("Y2hhb3MtY2FuYXJ5LTllMDdhYjQ0Yw=="))))
                .containsExactly(Shape.PAYLOAD_IN_MESSAGE);
    }

    @Test
    void payloadInAState_breaksP10() {
        Read read = get(DB_HELD, 21, found("v2"));
        Read.Moment before = new Read.Moment(seconds(21), DB_HELD, false, state(CacheState.FRESH, ChaosCanary.TEXT));

        assertThat(shapes(cache, new Read(DB, before, read.outcome(), read.after())))
                .containsExactly(Shape.PAYLOAD_IN_STATE);
    }

    private static long millis(int ms) {
        return Duration.ofMillis(ms).toNanos();
    }
}
