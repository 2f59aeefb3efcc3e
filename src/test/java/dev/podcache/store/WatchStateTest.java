package dev.podcache.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WatchStateTest {

    @ParameterizedTest
    @CsvSource({
        "OPENING,   LIVE BROKEN UNWATCHED EVICTED DROPPED",
        "LIVE,      BROKEN IDLE UNWATCHED EVICTED OPENING DROPPED",
        "BROKEN,    LIVE RENEWING UNWATCHED OPENING DROPPED",
        "RENEWING,  LIVE BROKEN UNWATCHED OPENING DROPPED",
        "IDLE,      REOPENING OPENING DROPPED",
        "REOPENING, LIVE BROKEN UNWATCHED OPENING DROPPED",
        "UNWATCHED, OPENING EVICTED DROPPED",
        "EVICTED,   LIVE UNWATCHED OPENING IDLE DROPPED",
        "DROPPED,   ''"
    })
    void to_anyOtherThanTheLegalMoves_isABug(WatchState from, String legal) {
        Set<String> moves = Set.of(legal.split(" "));
        assertThat(Arrays.asList(WatchState.values())).allSatisfy(next -> {
            if (moves.contains(next.name())) {
                assertThat(from.to(next)).isEqualTo(next);
            } else {
                assertThatThrownBy(() -> from.to(next))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessage("illegal transition of a watch from " + from + " to " + next);
            }
        });
    }
}
