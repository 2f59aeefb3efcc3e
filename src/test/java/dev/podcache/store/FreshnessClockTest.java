package dev.podcache.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.FixedTtl;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;

class FreshnessClockTest {

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final FixedTtl ttl = FixedTtl.ofSeconds(60);
    private final FreshnessClock clock = new FreshnessClock(time, ttl);

    /** What time it is by this clock. */
    private Duration shows() {
        return Duration.ofNanos(clock.freshSince()).plus(Duration.ofSeconds(60));
    }

    @Test
    void freshSince_retained_followsTimeByTicks() {
        clock.retain();

        time.advance(Duration.ofMillis(250));

        assertThat(shows()).isEqualTo(Duration.ofMillis(200));
    }

    @Test
    void freshSince_neverRetained_standsAndSchedulesNothing() {
        time.advance(Duration.ofSeconds(1));

        assertThat(shows()).isZero();
        assertThat(time.scheduledTasks()).isZero();
    }

    @Test
    void retain_afterAPause_isUpToDateAtOnce() {
        time.advance(Duration.ofSeconds(5));

        clock.retain();

        assertThat(shows()).isEqualTo(Duration.ofSeconds(5));
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

        assertThat(shows()).isEqualTo(Duration.ofMillis(100));
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
        assertThat(shows()).isEqualTo(Duration.ofMillis(42));
    }

    @Test
    void freshSince_ttlChanges_countsFromTheNextTick() {
        clock.retain();
        ttl.set(Duration.ofSeconds(50));
        assertThat(shows()).isZero();

        time.advance(FreshnessClock.TICK);

        assertThat(shows()).isEqualTo(Duration.ofSeconds(10).plus(FreshnessClock.TICK));
    }

    @Test
    void freshSince_ttlZero_notEvenWhatComesLaterIsFresh() {
        ttl.set(Duration.ZERO);
        clock.retain();
        long since = clock.freshSince();
        clock.release();
        time.advance(Duration.ofDays(36_500));

        assertThat(answeredNow().isFresh(since)).isFalse();
    }

    @Test
    void freshSince_ttlWithoutEnd_everythingIsFresh() {
        ttl.set(Duration.ofNanos(Long.MAX_VALUE));
        Answer.Present<String> answer = answeredNow();
        time.advance(Duration.ofDays(36_500));
        clock.retain();

        assertThat(answer.isFresh(clock.freshSince())).isTrue();
    }

    @Test
    void freshSince_answerAsOldAsTheTtl_isNotFresh() {
        Answer.Present<String> answer = answeredNow();
        time.advance(Duration.ofSeconds(60).minusNanos(1));
        clock.stamp();
        assertThat(answer.isFresh(clock.freshSince())).isTrue();

        time.advance(Duration.ofNanos(1));
        clock.stamp();
        assertThat(answer.isFresh(clock.freshSince())).isFalse();
    }

    private Answer.Present<String> answeredNow() {
        return new Answer.Present<>(time.nanoTime(), "object", "1", 1, false);
    }

    @Test
    void retain_whileAnOldTickIsBeginning_ticksOnce() {
        TooLateToCancel timer = new TooLateToCancel();
        FreshnessClock contended = new FreshnessClock(timer, ttl);
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
        public Executor urgent() {
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
