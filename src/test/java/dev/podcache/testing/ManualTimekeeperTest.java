package dev.podcache.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class ManualTimekeeperTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final List<String> ran = new ArrayList<>();

    @Test
    void nanoTime_withoutAdvance_stands() {
        assertThat(time.nanoTime()).isEqualTo(time.nanoTime()).isZero();
    }

    @Test
    void wallTime_advanced_movesAlong() {
        Instant before = time.wallTime();

        time.advance(SECOND);

        assertThat(time.wallTime()).isEqualTo(before.plus(SECOND));
    }

    @Test
    void advance_severalTasksDue_runsThemInOrderOfTimeThenOfScheduling() {
        schedule(3, "third");
        schedule(1, "first");
        schedule(1, "second");

        time.advance(SECOND.multipliedBy(3));

        assertThat(ran).containsExactly("first at 1", "second at 1", "third at 3");
    }

    @Test
    void advance_taskNotDue_stays() {
        schedule(2, "later");

        time.advance(SECOND);

        assertThat(ran).isEmpty();
        assertThat(time.scheduledTasks()).isEqualTo(1);
    }

    @Test
    void advance_taskSchedulesAnother_runsBothAtTheirTimes() {
        time.schedule(SECOND, () -> schedule(1, "second"));

        time.advance(SECOND.multipliedBy(5));

        assertThat(ran).containsExactly("second at 2");
    }

    @Test
    void schedule_negativeDelay_runsAtTheNextAdvance() {
        schedule(-5, "late");

        time.advance(Duration.ZERO);

        assertThat(ran).containsExactly("late at 0");
    }

    @Test
    void schedule_endlessDelay_isTaken() {
        time.advance(SECOND);
        time.schedule(Duration.ofSeconds(Long.MAX_VALUE), () -> ran.add("never"));

        time.advance(Duration.ofDays(1));

        assertThat(ran).isEmpty();
    }

    @Test
    void cancel_scheduledTask_forgetsIt() {
        time.schedule(SECOND, () -> ran.add("cancelled")).cancel();

        time.advance(SECOND);

        assertThat(ran).isEmpty();
    }

    @Test
    void close_scheduledTasks_forgetsThemAndTakesNoMore() {
        schedule(1, "before");
        time.close();
        schedule(1, "after");

        time.advance(SECOND);

        assertThat(ran).isEmpty();
    }

    @Test
    void await_futureCompletedByAnotherThread_isTrue() throws Exception {
        CompletableFuture<Void> future = new CompletableFuture<>();

        AtomicBoolean done = awaiting(future, () -> future.complete(null));

        assertThat(done).isTrue();
    }

    @Test
    void await_timePassesFirst_isFalse() throws Exception {
        AtomicBoolean done = awaiting(new CompletableFuture<>(), () -> time.advance(SECOND));

        assertThat(done).isFalse();
    }

    @Test
    void await_noTimeAndNotDone_isFalseAtOnce() throws Exception {
        assertThat(time.await(new CompletableFuture<>(), Duration.ZERO)).isFalse();
    }

    /** Returns whether an await of one second saw the future complete. Runs {@code meanwhile} beside it. */
    private AtomicBoolean awaiting(CompletableFuture<?> future, Runnable meanwhile) throws InterruptedException {
        AtomicBoolean done = new AtomicBoolean();
        Thread waiter = new Thread(() -> {
            try {
                done.set(time.await(future, SECOND));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        waiter.start();
        time.awaitWaiters(1);
        meanwhile.run();
        waiter.join();
        return done;
    }

    private void schedule(int seconds, String name) {
        time.schedule(
                SECOND.multipliedBy(seconds),
                () -> ran.add(name + " at " + Duration.ofNanos(time.nanoTime()).toSeconds()));
    }
}
