package dev.podcache.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.chaos.Claims.Epoch;
import dev.podcache.object.CacheState;
import org.junit.jupiter.api.Test;

/** The checker complains of failures that break P4, P5 or P6, and of no others. */
class ChaosCheckerFailuresTest extends CheckerFixture {

    // P4

    @Test
    void failure_beforeTheObjectWasSeen_isFine() {
        assertThat(shapes(cache, get(DB_HELD, 21, failed("refused")))).isEmpty();
    }

    @Test
    void failure_afterTheObjectWasSeen_breaksP4() {
        assertThat(shapes(cache, seen(get(DB_HELD, 21, failed("refused")))))
                .containsExactly(Shape.FAILED_ALTHOUGH_SEEN);
    }

    @Test
    void failure_whileANewReferenceCame_isFine() {
        Read read = seen(get(DB_HELD, 21, failed("refused")));
        Read.Moment after =
                new Read.Moment(seconds(22), held(new Epoch(seconds(21), 0)), false, state(CacheState.UNREAD, ""));

        assertThat(shapes(cache, new Read(DB, read.before(), read.outcome(), after)))
                .isEmpty();
    }

    @Test
    void exception_thatGetsDoNotThrow_breaksP4() {
        assertThat(shapes(cache, get(DB_HELD, 21, new ReadOutcome.FailedRead(new IllegalStateException("bug")))))
                .containsExactly(Shape.FOREIGN_EXCEPTION);
    }

    // P5 and P6

    @Test
    void answer_whenNobodyRefersToIt_breaksP5() {
        assertThat(shapes(cache, get(FREE, 21, found("v2")))).containsExactly(Shape.SERVED_UNREFERENCED);
        assertThat(shapes(cache, get(FREE, 21, failed("refused")))).containsExactly(Shape.SERVED_UNREFERENCED);
    }

    @Test
    void notRegistered_whenNobodyRefersToIt_isFine() {
        assertThat(shapes(cache, get(FREE, 21, notRegistered()))).isEmpty();
    }

    @Test
    void notRegistered_althoughReferredTo_breaksP6() {
        assertThat(shapes(cache, get(DB_HELD, 21, notRegistered()))).containsExactly(Shape.NOT_REGISTERED);
    }
}
