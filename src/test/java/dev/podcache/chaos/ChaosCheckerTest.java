package dev.podcache.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.chaos.Claims.Epoch;
import org.junit.jupiter.api.Test;

/** The checker complains of each answer that breaks P1 or P2, and of no other. Times are in seconds. */
class ChaosCheckerTest extends CheckerFixture {

    // P1: registered at 10, replaced at 20

    @Test
    void answer_thatWasTheServersAfterTheRegistration_isFine() {
        assertThat(promises(cache, get(DB_HELD, 21, found("v1")))).isEmpty();
    }

    @Test
    void answer_thatWasGoneBeforeTheRegistration_breaksP1() {
        Claims.Claim held = held(new Epoch(seconds(22), seconds(10)));

        assertThat(promises(cache, get(held, 23, found("v1")))).containsExactly("P1");
    }

    @Test
    void answer_thatWasGoneBeforeANewReferenceButNotTheFirst_isFineUnderWatch() {
        Claims.Claim held = held(new Epoch(seconds(22), seconds(10)));

        assertThat(promises(watch, get(held, 23, found("v1")))).isEmpty();
    }

    @Test
    void answer_thatWasGoneBeforeTheFirstReference_breaksP1UnderWatch() {
        assertThat(promises(watch, get(held(new Epoch(seconds(22), seconds(22))), 23, found("v1"))))
                .containsExactly("P1");
    }

    @Test
    void answer_whoseSuccessorIsBeingWritten_isFine() {
        history.propose("v3", false, seconds(21));

        assertThat(promises(cache, get(held(new Epoch(seconds(22), seconds(22))), 23, found("v2"))))
                .isEmpty();
    }

    @Test
    void answer_thatNobodyWrote_breaksP1() {
        assertThat(promises(cache, get(DB_HELD, 21, found("v9")))).containsExactly("P1");
    }

    @Test
    void answer_whoseWriteDidNotHappen_breaksP1() {
        history.refused(history.propose("v3", false, seconds(21)));

        assertThat(promises(cache, get(DB_HELD, 22, found("v3")))).containsExactly("P1");
    }

    @Test
    void notFound_althoughPresentSinceTheRegistration_breaksP1() {
        assertThat(promises(cache, get(DB_HELD, 21, notFound()))).containsExactly("P1");
    }

    @Test
    void notFound_whileADeletionIsUnderWay_isFine() {
        history.propose(null, false, seconds(21));

        assertThat(promises(cache, get(DB_HELD, 22, notFound()))).isEmpty();
    }

    // P2

    @Test
    void answer_olderThanOneBefore_breaksP2() {
        judge(cache, get(DB_HELD, 21, found("v2")));

        assertThat(promises(cache, get(DB_HELD, 22, found("v1")))).containsExactly("P2");
    }

    @Test
    void answer_olderThanOneBeforeANewReference_isFine() {
        judge(cache, get(DB_HELD, 21, found("v2")));

        assertThat(promises(cache, get(held(new Epoch(seconds(15), seconds(10))), 22, found("v1"))))
                .isEmpty();
    }

    @Test
    void notFound_fromBeforeWhatWasSeen_breaksP2() {
        write(null, 30);
        write("v3", 31);
        judge(cache, get(DB_HELD, 32, found("v3")));

        assertThat(promises(cache, get(DB_HELD, 33, notFound()))).containsExactly("P2");
    }

    @Test
    void answer_fromBeforeTheAbsenceThatWasSeen_breaksP2() {
        write(null, 30);
        judge(cache, get(DB_HELD, 32, notFound()));

        assertThat(promises(cache, get(DB_HELD, 33, found("v2")))).containsExactly("P2");
    }
}
