package dev.podcache.time;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.RefusingTimers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.BeforeTry;

class PeriodicLoopProperties {

    private static final Duration PERIOD = Duration.ofSeconds(10);

    private ManualTimekeeper time = new ManualTimekeeper();
    private final List<Long> begun = new ArrayList<>();

    @BeforeTry
    void beginAnew() {
        time = new ManualTimekeeper();
        begun.clear();
    }

    @Property
    void period_anyRandomAndLength_countsFromTheEndAndIsAtMostFourPercentLonger(
            @ForAll @DoubleRange(min = 0, max = 1, maxIncluded = false) double random,
            @ForAll @IntRange(min = 0, max = 30) int seconds) {
        long length = Duration.ofSeconds(seconds).toNanos();
        PeriodicLoop loop = new PeriodicLoop(() -> runOf(Duration.ofNanos(length)), PERIOD, time, () -> random);
        loop.start();
        time.advance(Duration.ofMinutes(5));
        loop.close();

        assertThat(begun).hasSizeGreaterThan(6);
        assertThat(begun.get(0)).isZero();
        for (int i = 1; i < begun.size(); i++) {
            assertThat(begun.get(i) - begun.get(i - 1) - length)
                    .isBetween(PERIOD.toNanos(), (long) (PERIOD.toNanos() * 1.04));
        }
    }

    @Property
    void runSoon_anyTimes_runsBeginAfterEachAndNeverTwoAtOnce(
            @ForAll @IntRange(min = 0, max = 5) int length, @ForAll List<@IntRange(min = 0, max = 15) Integer> gaps) {
        int[] running = new int[1];
        PeriodicLoop loop = new PeriodicLoop(
                () -> {
                    assertThat(++running[0]).isEqualTo(1);
                    return runOf(Duration.ofSeconds(length)).thenRun(() -> running[0]--);
                },
                PERIOD,
                time,
                () -> 0.0);
        loop.start();
        for (int gap : gaps) {
            time.advance(Duration.ofSeconds(gap));
            int before = begun.size();
            boolean idle = running[0] == 0;
            loop.runSoon();
            time.advance(idle ? Duration.ZERO : Duration.ofSeconds(length));
            assertThat(begun).hasSizeGreaterThan(before);
        }
        loop.close();
    }

    @Example
    void run_thatFails_isFollowedByTheNext() {
        PeriodicLoop loop = new PeriodicLoop(
                () -> {
                    begun.add(time.nanoTime());
                    return CompletableFuture.failedFuture(new AssertionError("broken"));
                },
                PERIOD,
                time,
                () -> 0.0);
        loop.start();
        time.advance(PERIOD.multipliedBy(3));
        loop.close();

        assertThat(begun).hasSize(4);
    }

    @Example
    @ExpectedWarnings("a timer could not be set")
    void timerThatCannotBeSetOnce_isSetAgain() {
        RefusingTimers timers = new RefusingTimers(time);
        PeriodicLoop loop = new PeriodicLoop(() -> runOf(Duration.ZERO), PERIOD, timers, () -> 0.0);
        timers.refusals = 1;
        loop.start();
        time.advance(PERIOD.multipliedBy(3));
        loop.close();

        assertThat(begun).hasSize(4);
    }

    @Example
    void start_afterClose_runsNothing() {
        PeriodicLoop loop = new PeriodicLoop(() -> runOf(Duration.ZERO), PERIOD, time, () -> 0.0);
        loop.close();

        loop.start();
        loop.runSoon();
        time.advance(PERIOD.multipliedBy(3));

        assertThat(begun).isEmpty();
    }

    private CompletableFuture<Void> runOf(Duration length) {
        begun.add(time.nanoTime());
        CompletableFuture<Void> done = new CompletableFuture<>();
        if (length.isZero()) {
            done.complete(null);
        } else {
            time.schedule(length, () -> done.complete(null));
        }
        return done;
    }
}
