package dev.podcache.time;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ManualTimekeeper;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;

class CoarseClockTest {

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final CoarseClock clock = new CoarseClock(time);

    @Test
    void now_retained_followsTimeByTicks() {
        clock.retain();

        time.advance(Duration.ofMillis(250));

        assertThat(clock.now()).isEqualTo(Duration.ofMillis(200).toNanos());
    }

    @Test
    void now_neverRetained_standsAndSchedulesNothing() {
        time.advance(Duration.ofSeconds(1));

        assertThat(clock.now()).isZero();
        assertThat(time.scheduledTasks()).isZero();
    }

    @Test
    void retain_afterAPause_isUpToDateAtOnce() {
        time.advance(Duration.ofSeconds(5));

        clock.retain();

        assertThat(clock.now()).isEqualTo(Duration.ofSeconds(5).toNanos());
    }

    @Test
    void retain_manyUsers_ticksOnce() {
        clock.retain();
        clock.retain();
        time.advance(Duration.ofSeconds(1));

        assertThat(time.scheduledTasks()).isEqualTo(1);
    }

    @Test
    void release_oneOfTwo_goesOn() {
        clock.retain();
        clock.retain();
        clock.release();

        time.advance(Duration.ofMillis(100));

        assertThat(clock.now()).isEqualTo(Duration.ofMillis(100).toNanos());
    }

    @Test
    void release_lastUser_leavesNothingScheduled() {
        clock.retain();
        time.advance(Duration.ofSeconds(1));

        clock.release();

        assertThat(time.scheduledTasks()).isZero();
    }

    @Test
    void stamp_betweenTicks_isTheTimeItself() {
        clock.retain();
        time.advance(Duration.ofMillis(42));

        assertThat(clock.stamp()).isEqualTo(Duration.ofMillis(42).toNanos());
        assertThat(clock.now()).isEqualTo(Duration.ofMillis(42).toNanos());
    }

    @Test
    void retain_whileAnOldTickIsBeginning_ticksOnce() {
        TooLateToCancel timer = new TooLateToCancel();
        CoarseClock contended = new CoarseClock(timer);
        contended.retain();
        contended.release();
        contended.retain();

        timer.tasks.get(0).run();

        assertThat(timer.tasks)
                .as("the two ticks that retain() began, none by the old tick")
                .hasSize(2);
    }

    /** A timer whose tasks have always just begun when somebody cancels them. */
    private static final class TooLateToCancel implements Timekeeper {

        final List<Runnable> tasks = new ArrayList<>();

        @Override
        public long nanoTime() {
            return 0;
        }

        @Override
        public Instant wallTime() {
            return Instant.EPOCH;
        }

        @Override
        public Scheduled schedule(Duration delay, Runnable task) {
            tasks.add(task);
            return () -> {};
        }

        @Override
        public Executor workers() {
            return Runnable::run;
        }

        @Override
        public Executor blocking() {
            return Runnable::run;
        }

        @Override
        public boolean await(CompletableFuture<?> future, Duration timeout) {
            return future.isDone();
        }

        @Override
        public void close() {}
    }
}
