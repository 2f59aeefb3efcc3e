package dev.podcache.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** The run complains of GETs that break P3, and of no others. Times are in seconds. */
class ChaosFetchesTest {

    private final World world = new World("chaos");
    private final Claims claims = new Claims();
    private final FetchRules fetches = new FetchRules(world, Rules.cache(), claims);
    private final Witness witness = new Witness(world, fetches);
    private final CachedObject db = world.subjects.get(0);
    private final CachedObject cert = world.subjects.get(1);

    ChaosFetchesTest() {
        register(10);
    }

    // refreshes

    @Test
    void refresh_beforeTheTtlIsOver_breaksP3() {
        refresh(db, 20);
        refresh(db, 20.9);

        assertThat(shapes()).containsExactly(Shape.REFRESHED_TOO_SOON);
    }

    @Test
    void refresh_whenTheTtlIsOver_isFine() {
        refresh(db, 20);
        refresh(db, 21);

        assertThat(shapes()).isEmpty();
    }

    @Test
    void refresh_afterOneThatFailed_isFine() {
        refresh(db, 20);
        witness.failed(ObjectKind.SECRET.path(ObjectKey.of("chaos", db.name())));
        refresh(db, 20.5);

        assertThat(shapes()).isEmpty();
    }

    @Test
    void refresh_afterANewReference_isFine() {
        refresh(db, 20);
        register(20.2);
        refresh(db, 20.6);

        assertThat(shapes()).isEmpty();
    }

    @Test
    void refresh_thatMayHaveBegunBeforeANewReference_doesNotCount() {
        register(19.6);
        refresh(db, 20);
        refresh(db, 20.6);

        assertThat(shapes()).isEmpty();
    }

    @Test
    void refresh_ofAnotherObject_isFine() {
        refresh(db, 20);
        refresh(cert, 20.5);

        assertThat(shapes()).isEmpty();
    }

    @Test
    void request_thatAsksForTheLatest_isNoRefresh() {
        refresh(db, 20);
        latest(db, 20.5);

        assertThat(shapes()).isEmpty();
    }

    @Test
    void refresh_soonAfterAnAttemptThatWasRefused_breaksP3() {
        UUID refused = latest(db, 20);
        fetches.ended(db, refused, false, seconds(20.1));
        refresh(db, 20.5);

        assertThat(shapes()).containsExactly(Shape.RETRIED_TOO_SOON);
    }

    @Test
    void refresh_soonAfterAFetchOfAnEarlierEpochWasRefusedAgain_isFine() {
        fetches.ended(db, latest(db, 18), false, seconds(18.1));
        register(19);
        fetches.ended(db, latest(db, 19.6), true, seconds(19.7));
        fetches.ended(db, latest(db, 21), false, seconds(21.1));
        refresh(db, 21.3);

        assertThat(shapes()).isEmpty();
    }

    @Test
    void refresh_soonAfterARefreshWasRefused_breaksP3WhateverFailedInAnEarlierEpoch() {
        fetches.ended(db, latest(db, 18), false, seconds(18.1));
        register(19);
        fetches.ended(db, latest(db, 19.6), true, seconds(19.7));
        fetches.ended(db, leaves(db, "?resourceVersion=0", 21), false, seconds(21.1));
        fetches.toldFailed(db);
        refresh(db, 21.3);

        assertThat(shapes()).containsExactly(Shape.RETRIED_TOO_SOON);
    }

    @Test
    void refresh_aPauseAfterAnAttemptThatWasRefused_isFine() {
        UUID refused = latest(db, 20);
        fetches.ended(db, refused, false, seconds(20.1));
        refresh(db, 20.6);

        assertThat(shapes()).isEmpty();
    }

    @Test
    void refresh_afterAnAnswerThatCameAfterTheRefusal_isFine() {
        UUID refused = latest(db, 20);
        fetches.ended(db, refused, false, seconds(20.1));
        fetches.ended(db, latest(db, 20.2), true, seconds(20.3));
        refresh(db, 20.4);

        assertThat(shapes()).isEmpty();
        assertThat(fetches.failedFor(db, seconds(30))).isZero();
    }

    @Test
    void failedFor_fetchOfAnEarlierEpochWasRefusedAgain_isZero() {
        fetches.ended(db, latest(db, 18), false, seconds(18.1));
        register(19);
        fetches.ended(db, latest(db, 19.6), true, seconds(19.7));
        fetches.ended(db, latest(db, 19.9), false, seconds(20));

        assertThat(fetches.failedFor(db, seconds(20.5))).isZero();
    }

    @Test
    void refresh_soonAfterAFetchOfAnEarlierEpochThatCouldNotBeSentIsRefused_isFine() {
        fetches.notSent(db, seconds(18.1));
        register(19);
        fetches.ended(db, latest(db, 19.6), true, seconds(19.7));
        fetches.ended(db, latest(db, 21), false, seconds(21.1));
        refresh(db, 21.2);

        assertThat(shapes()).isEmpty();
    }

    @Test
    void get_afterOneThatIsOverWithoutAnAnswer_isFine() {
        fetches.over(db, latest(db, 20), seconds(20.2));
        latest(db, 25);

        assertThat(shapes()).isEmpty();
    }

    @Test
    void failedFor_attemptThatFailedAfterANewerOneWasAnswered_isZero() {
        UUID detached = latest(db, 20);
        fetches.ended(db, latest(db, 20.1), true, seconds(20.2));
        fetches.ended(db, detached, false, seconds(20.3));

        assertThat(fetches.failedFor(db, seconds(21))).isZero();
    }

    @Test
    void failedFor_attemptThatTheClientRepeatedWithANewToken_isZero() {
        UUID repeated = latest(db, 20);
        fetches.ended(db, repeated, false, seconds(20.1));
        fetches.ended(db, repeated, true, seconds(20.2));

        assertThat(fetches.failedFor(db, seconds(21))).isZero();
    }

    @Test
    void failedFor_attemptOfAnEarlierEpochToo_thatTheClientRepeatedWithANewToken_isZero() {
        fetches.ended(db, latest(db, 18), false, seconds(18.1));
        register(19);
        UUID repeated = latest(db, 19.9);
        fetches.ended(db, repeated, false, seconds(20));
        fetches.ended(db, repeated, true, seconds(20.1));

        assertThat(fetches.failedFor(db, seconds(21))).isZero();
    }

    @Test
    void failedFor_attemptThatFailed_countsFromThen() {
        fetches.ended(db, latest(db, 20), false, seconds(20.5));

        assertThat(fetches.failedFor(db, seconds(21))).isEqualTo(seconds(0.5));
    }

    // single flight

    @Test
    void twoAtOnce_withoutANewReference_breakP3() {
        latest(db, 20);
        latest(db, 20.1);

        assertThat(shapes()).containsExactly(Shape.FETCHED_AT_ONCE);
    }

    @Test
    void twoAtOnce_ofWhichANewReferenceMayHaveDetachedOne_areFine() {
        latest(db, 20);
        register(20.1);
        latest(db, 20.2);

        assertThat(shapes()).isEmpty();
    }

    @Test
    void twoAtOnce_ofWhichOneRepeatsAFetchThatWasDetached_areFine() {
        fetches.ended(db, latest(db, 20), false, seconds(20.1));
        register(20.2);
        latest(db, 21);
        latest(db, 21.1);

        assertThat(shapes()).isEmpty();
    }

    @Test
    void twoAtOnce_ofWhichOneRepeatsAFetchOfThisEpoch_breakP3() {
        fetches.ended(db, latest(db, 20), false, seconds(20.1));
        latest(db, 21);
        latest(db, 21.1);

        assertThat(shapes()).containsExactly(Shape.FETCHED_AT_ONCE);
    }

    @Test
    void twoAtOnce_ofWhichOneMayHaveWaitedForAConnectionSinceAnEarlierEpoch_areFine() {
        world.calm.end(true, false);
        register(20);
        latest(db, 21);
        latest(db, 21.1);
        assertThat(shapes()).isEmpty();

        world.calm.networkBegins(seconds(22));
        register(23);
        latest(db, 40);
        latest(db, 40.1);
        assertThat(shapes()).containsExactly(Shape.FETCHED_AT_ONCE);
    }

    /** On a machine that stood still after the reference, a GET of the earlier epoch leaves late. */
    @Test
    void twoAtOnce_ofWhichOneLeftAfterAStall_areFine_unlessItIsLongAgo() {
        register(20);
        world.stalls.add(seconds(20.2), seconds(22));
        latest(db, 22.2);
        latest(db, 24);
        assertThat(shapes()).isEmpty();

        latest(db, 25);
        assertThat(shapes()).containsExactly(Shape.FETCHED_AT_ONCE);
    }

    @Test
    void twoAfterEachOther_areFine() {
        fetches.ended(db, latest(db, 20), true, seconds(20.05));
        latest(db, 20.1);

        assertThat(shapes()).isEmpty();
    }

    @Test
    void twoAtOnce_ofWhichOneRepeatsADetachedFetchThatFailedAfterTheWholeReadTimeout_areFine() {
        UUID timedOut = latest(db, 20);
        register(29);
        latest(db, 29.6);
        fetches.ended(db, timedOut, false, seconds(30));
        latest(db, 30.1);

        assertThat(shapes()).isEmpty();
    }

    // budget

    @Test
    void moreRequestsThanGetsAllow_breakP3() {
        fetches.got(db, seconds(20));
        for (int i = 0; i < 17; i++) {
            fetches.ended(db, latest(db, 20 + i * 0.01), false, seconds(20 + i * 0.01));
        }

        assertThat(shapes()).containsExactly(Shape.TOO_MANY_REQUESTS);
    }

    @Test
    void asManyRequestsAsGetsAllow_areFine() {
        fetches.got(db, seconds(20));
        for (int i = 0; i < 40; i++) {
            fetches.ended(db, latest(db, 20 + i * 0.12), false, seconds(20 + i * 0.12));
        }

        assertThat(shapes()).isEmpty();
    }

    @Test
    void requestsOfGetsThatRepeatWhatWasRefusedASecondAgo_areFine() {
        fetches.got(db, seconds(20));
        fetches.got(db, seconds(20));
        for (int i = 0; i < 12; i++) {
            fetches.ended(db, latest(db, 21.05 + i * 0.01), false, seconds(21.05 + i * 0.01));
        }

        assertThat(shapes()).isEmpty();
    }

    @Test
    void requestsAfterGetsThatHaveLongEnded_breakP3() {
        fetches.got(db, seconds(20));
        fetches.got(db, seconds(20));
        for (int i = 0; i < 12; i++) {
            fetches.ended(db, latest(db, 23 + i * 0.01), false, seconds(23 + i * 0.01));
        }

        assertThat(shapes()).contains(Shape.TOO_MANY_REQUESTS);
    }

    private List<Shape> shapes() {
        return world.violations.findings().stream().map(Finding::shape).toList();
    }

    private void register(double at) {
        claims.added(List.of(db, cert), seconds(at), seconds(at));
    }

    private void refresh(CachedObject subject, double at) {
        fetches.ended(subject, leaves(subject, "?resourceVersion=0", at), true, seconds(at));
    }

    private UUID latest(CachedObject subject, double at) {
        return leaves(subject, "", at);
    }

    private UUID leaves(CachedObject subject, String query, double at) {
        UUID id = UUID.randomUUID();
        witness.leaves(id, URI.create("http://server" + world.path(subject) + query), seconds(at));
        return id;
    }

    private static long seconds(double s) {
        return Duration.ofMillis(Math.round(s * 1_000)).toNanos();
    }
}
