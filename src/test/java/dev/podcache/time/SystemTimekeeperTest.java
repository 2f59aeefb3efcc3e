package dev.podcache.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What is left of threads is {@link NoLeaks}' to find. */
@ExtendWith(NoLeaks.class)
class SystemTimekeeperTest {

    private static final Duration LONG = Duration.ofSeconds(30);
    private static final Duration FOR_EVER = Duration.ofSeconds(Long.MAX_VALUE);

    private final Timekeeper time = Timekeeper.system();

    @AfterEach
    void close() {
        time.close();
    }

    @Test
    void schedule_delay_runsNotBeforeIt() throws Exception {
        CompletableFuture<Long> ran = new CompletableFuture<>();
        long asked = time.nanoTime();

        time.schedule(Duration.ofMillis(20), () -> ran.complete(time.nanoTime()));

        assertThat(time.await(ran, LONG)).isTrue();
        assertThat(ran.join() - asked)
                .isGreaterThanOrEqualTo(Duration.ofMillis(20).toNanos());
    }

    @Test
    void schedule_negativeDelay_runsAtOnce() throws Exception {
        CompletableFuture<Thread> ran = new CompletableFuture<>();

        time.schedule(Duration.ofDays(-1), () -> ran.complete(Thread.currentThread()));

        assertThat(time.await(ran, LONG)).isTrue();
        assertThat(ran.join().isDaemon()).isTrue();
    }

    @Test
    void schedule_delayBeyondNanoseconds_isTaken() {
        time.schedule(FOR_EVER, () -> {}).cancel();
    }

    @Test
    void cancel_beforeItsTime_keepsTheTaskFromRunning() throws Exception {
        AtomicBoolean ran = new AtomicBoolean();
        CountDownLatch cancelled = new CountDownLatch(1);
        time.schedule(Duration.ZERO, () -> awaitQuietly(cancelled));
        Timekeeper.Scheduled task = time.schedule(Duration.ofMillis(5), () -> ran.set(true));
        CompletableFuture<Void> later = new CompletableFuture<>();

        task.cancel();
        cancelled.countDown();
        time.schedule(Duration.ofMillis(20), () -> later.complete(null));

        assertThat(time.await(later, LONG)).isTrue();
        assertThat(ran).isFalse();
    }

    @Test
    @ExpectedWarnings("a scheduled task failed")
    void schedule_taskThrows_isLoggedAndTheTimerGoesOn() throws Exception {
        CompletableFuture<Void> next = new CompletableFuture<>();

        time.schedule(Duration.ZERO, () -> {
            throw new IllegalStateException("lost");
        });
        time.schedule(Duration.ZERO, () -> next.complete(null));

        assertThat(time.await(next, LONG)).isTrue();
    }

    @Test
    void workers_twoTasks_runBesideTheCallerAtOnce() throws Exception {
        CountDownLatch both = new CountDownLatch(2);
        CompletableFuture<Void> met = new CompletableFuture<>();
        Runnable task = () -> {
            both.countDown();
            awaitQuietly(both);
            met.complete(null);
        };

        time.workers().execute(task);
        time.workers().execute(task);

        assertThat(time.await(met, LONG)).isTrue();
    }

    @Test
    void await_notDoneInTime_isFalse() throws Exception {
        assertThat(time.await(new CompletableFuture<>(), Duration.ofMillis(1))).isFalse();
    }

    @Test
    void await_anyEnd_isTrue() throws Exception {
        CompletableFuture<Void> cancelled = new CompletableFuture<>();
        cancelled.cancel(false);

        assertThat(time.await(CompletableFuture.completedFuture("value"), Duration.ZERO))
                .isTrue();
        assertThat(time.await(CompletableFuture.failedFuture(new IllegalStateException()), FOR_EVER))
                .isTrue();
        assertThat(time.await(cancelled, LONG)).isTrue();
    }

    @Test
    void await_interruptedThread_throws() {
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> time.await(new CompletableFuture<>(), LONG)).isInstanceOf(InterruptedException.class);
    }

    @Test
    void wallTime_now_isTheTimeOfDay() {
        assertThat(Duration.between(time.wallTime(), Instant.now()).abs()).isLessThan(LONG);
    }

    @Test
    void schedule_afterClose_neverRuns() {
        AtomicBoolean ran = new AtomicBoolean();
        time.close();

        time.schedule(Duration.ZERO, () -> ran.set(true)).cancel();

        assertThat(ran).isFalse();
    }

    @Test
    void workers_afterClose_runOnTheCallersThread() {
        CompletableFuture<Thread> ranOn = new CompletableFuture<>();
        time.close();

        time.workers().execute(() -> ranOn.complete(Thread.currentThread()));

        assertThat(ranOn).isCompletedWithValue(Thread.currentThread());
    }

    @Test
    void close_whatIsScheduled_isDropped() {
        AtomicBoolean ran = new AtomicBoolean();
        time.schedule(LONG, () -> ran.set(true));

        time.close();
        time.close();

        // nor does its thread wait for it, which NoLeaks sees to

        assertThat(ran).isFalse();
    }

    @Test
    void close_fromATimersThread_returns() throws Exception {
        CompletableFuture<Void> closed = new CompletableFuture<>();

        time.schedule(Duration.ZERO, () -> {
            time.close();
            closed.complete(null);
        });

        // less than the two seconds for which it would wait for itself
        assertThat(time.await(closed, Duration.ofMillis(1900))).isTrue();
    }

    @Test
    void close_interruptedThread_staysInterrupted() {
        time.schedule(Duration.ofHours(1), () -> {});
        Thread.currentThread().interrupt();

        time.close();

        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    @ExpectedWarnings("cannot start a thread podcache-worker")
    void work_systemHasNoThreadLeft_runsWhenItHas() throws Exception {
        AtomicInteger failures = new AtomicInteger(2);
        CompletableFuture<Thread> ran = new CompletableFuture<>();
        try (Timekeeper scarce = new SystemTimekeeper(name -> task -> {
            if (name.equals("podcache-worker") && failures.getAndDecrement() > 0) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            return SystemTimekeeper.named(name).newThread(task);
        })) {
            scarce.workers().execute(() -> ran.complete(Thread.currentThread()));

            assertThat(time.await(ran, LONG)).isTrue();
            assertThat(ran.join().getName()).startsWith("podcache-worker");
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
