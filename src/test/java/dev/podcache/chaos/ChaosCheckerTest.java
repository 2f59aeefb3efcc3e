package dev.podcache.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.chaos.Claims.Epoch;
import org.junit.jupiter.api.Test;

/** The checker complains of each answer that breaks P1 or P2, and of no other. Times are in seconds. */
class ChaosCheckerTest extends CheckerFixture {

    // P1: registered at 10, replaced at 20

    @Test
    void answer_thatWasTheServersAfterTheRegistration_isFine() {
        assertThat(shapes(cache, get(DB_HELD, 21, found("v1")))).isEmpty();
    }

    @Test
    void answer_thatWasGoneBeforeTheRegistration_breaksP1() {
        Claims.Claim held = held(new Epoch(seconds(22), seconds(10)));

        assertThat(shapes(cache, get(held, 23, found("v1")))).containsExactly(Shape.GONE_BEFORE);
    }

    @Test
    void answer_thatWasGoneBeforeANewReferenceButNotTheFirst_isFineUnderWatch() {
        Claims.Claim held = held(new Epoch(seconds(22), seconds(10)));

        assertThat(shapes(watch, get(held, 23, found("v1")))).isEmpty();
    }

    @Test
    void answer_thatWasGoneBeforeTheFirstReference_breaksP1UnderWatch() {
        assertThat(shapes(watch, get(held(new Epoch(seconds(22), seconds(22))), 23, found("v1"))))
                .containsExactly(Shape.GONE_BEFORE);
    }

    @Test
    void answer_whoseSuccessorIsBeingWritten_isFine() {
        history.propose("v3", false, seconds(21));

        assertThat(shapes(cache, get(held(new Epoch(seconds(22), seconds(22))), 23, found("v2"))))
                .isEmpty();
    }

    @Test
    void answer_thatNobodyWrote_breaksP1() {
        assertThat(shapes(cache, get(DB_HELD, 21, found("v9")))).containsExactly(Shape.NEVER_WRITTEN);
    }

    @Test
    void answer_whoseWriteDidNotHappen_breaksP1() {
        history.refused(history.propose("v3", false, seconds(21)));

        assertThat(shapes(cache, get(DB_HELD, 22, found("v3")))).containsExactly(Shape.NEVER_WRITTEN);
    }

    @Test
    void notFound_althoughPresentSinceTheRegistration_breaksP1() {
        assertThat(shapes(cache, get(DB_HELD, 21, notFound()))).containsExactly(Shape.NEVER_ABSENT);
    }

    @Test
    void notFound_whileADeletionIsUnderWay_isFine() {
        history.propose(null, false, seconds(21));

        assertThat(shapes(cache, get(DB_HELD, 22, notFound()))).isEmpty();
    }

    // P2

    @Test
    void answer_olderThanOneBefore_breaksP2() {
        judge(cache, get(DB_HELD, 21, found("v2")));

        assertThat(shapes(cache, get(DB_HELD, 22, found("v1")))).containsExactly(Shape.WENT_BACK);
    }

    @Test
    void answer_olderThanOneBeforeANewReference_isFine() {
        judge(cache, get(DB_HELD, 21, found("v2")));

        assertThat(shapes(cache, get(held(new Epoch(seconds(15), seconds(10))), 22, found("v1"))))
                .isEmpty();
    }

    @Test
    void notFound_fromBeforeWhatWasSeen_breaksP2() {
        write(null, 30);
        write("v3", 31);
        judge(cache, get(DB_HELD, 32, found("v3")));

        assertThat(shapes(cache, get(DB_HELD, 33, notFound()))).containsExactly(Shape.WENT_BACK);
    }

    @Test
    void answer_fromBeforeTheAbsenceThatWasSeen_breaksP2() {
        write(null, 30);
        judge(cache, get(DB_HELD, 32, notFound()));

        assertThat(shapes(cache, get(DB_HELD, 33, found("v2")))).containsExactly(Shape.WENT_BACK);
    }

    @Test
    void answer_olderThanOneOfAnotherThreadBefore_breaksP2() {
        Order order = new Order();
        judge(checker(Rules.cache(), order), get(DB_HELD, 21, found("v2")));

        assertThat(shapes(checker(Rules.cache(), order), get(DB_HELD, 22, found("v1"))))
                .containsExactly(Shape.WENT_BACK);
    }

    @Test
    void answer_olderThanOneOfAnotherThreadThatHadNotEnded_isFine() {
        Order order = new Order();
        judge(checker(Rules.cache(), order), lasting(get(DB_HELD, 21, found("v2")), 23));

        assertThat(shapes(checker(Rules.cache(), order), get(DB_HELD, 22, found("v1"))))
                .isEmpty();
    }

    @Test
    void answer_newerThanOneThatBeganLaterButWasJudgedBefore_breaksP2() {
        Order order = new Order();
        judge(checker(Rules.cache(), order), get(DB_HELD, 24, found("v1")));

        assertThat(shapes(checker(Rules.cache(), order), get(DB_HELD, 22, found("v2"))))
                .containsExactly(Shape.WENT_BACK);
    }

    // GET: no references, and every get asks

    @Test
    void answer_thatWasGoneBeforeTheGet_breaksP1UnderGet() {
        assertThat(shapes(direct, get(FREE, 21, found("v1")))).containsExactly(Shape.GONE_BEFORE);
        assertThat(shapes(direct, get(FREE, 22, found("v2")))).isEmpty();
    }

    @Test
    void failureOrNotRegistered_underGet_onlyTheSecondIsABreach() {
        assertThat(shapes(direct, seen(get(DB_HELD, 21, failed("refused"))))).isEmpty();
        assertThat(shapes(direct, get(FREE, 21, notRegistered()))).containsExactly(Shape.NOT_REGISTERED);
    }

    @Test
    void answer_ofACacheThatWasReplacedMeanwhile_isNotJudged() {
        Read read = get(DB_HELD, 21, new ReadOutcome.FailedRead(new IllegalStateException("closed")));

        assertThat(shapes(cache, new Read(DB, read.before(), read.outcome(), read.after(), 0, 0, Contact.GOOD, true)))
                .isEmpty();
    }

    private static Read lasting(Read read, int until) {
        Read.Moment after = new Read.Moment(
                seconds(until), read.after().claim(), true, read.after().state());
        return new Read(DB, read.before(), read.outcome(), after);
    }
}
