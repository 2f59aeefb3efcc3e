package dev.podcache.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** When a server that always refuses is asked about an object whose reference is new. */
class EarlyRefusalsProperties {

    @Example
    void grants_withTheDefaultTimeout_askAtTheseTimes() {
        EarlyRefusals times = EarlyRefusals.ofGrants(Duration.ofSeconds(1));

        assertThat(asked(times.window(), 0))
                .containsExactly(0L, 50L, 150L, 350L, 750L, 1_550L, 2_550L, 3_550L, 4_550L, 5_550L, 6_000L);
        assertThat(times.getWaits()).isEqualTo(Duration.ofSeconds(1));
    }

    @Example
    void node_asksForASecond() {
        assertThat(asked(EarlyRefusals.NODE.window(), 0)).containsExactly(0L, 50L, 150L, 350L, 750L, 1_000L);
    }

    @Property
    void anyWindow_isAskedEverMoreSeldom_andForTheLastTimeAtItsEnd(
            @ForAll @IntRange(min = 0, max = 120_000) int window,
            @ForAll @IntRange(min = 0, max = 2_000) int answered) {
        List<Long> asked = asked(Duration.ofMillis(window), answered);
        for (int i = 1; i < asked.size() - 1; i++) {
            assertThat(asked.get(i) - asked.get(i - 1) - answered)
                    .isEqualTo(Math.min(1_000, 50L << Math.min(10, i - 1)));
        }
        long last = asked.get(asked.size() - 1);

        assertThat(last).isLessThanOrEqualTo(window);
        assertThat(last + answered).as("the last answer ends the window").isGreaterThanOrEqualTo(window);
    }

    /** Returns when the server is asked, in milliseconds, if each answer takes so long. */
    private static List<Long> asked(Duration window, long answered) {
        List<Long> asked = new ArrayList<>();
        long now = 0;
        Duration pause = Duration.ZERO;
        while (pause != null) {
            now += pause.toMillis();
            asked.add(now);
            now += answered;
            pause = EarlyRefusals.pause(asked.size(), Duration.ofMillis(now), window);
        }
        return asked;
    }
}
