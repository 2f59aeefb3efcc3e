package dev.podcache.time;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.ForwardingTimekeeper;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@Timeout(60)
@ExtendWith(NoLeaks.class)
class TaskThreadsTest {

    private static final Duration LONG_CALL = Duration.ofMillis(100);

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final Queue<Runnable> started = new ArrayDeque<>();
    private final List<String> ran = new ArrayList<>();

    /** Threads that run when the test says so. */
    private TaskThreads queued(int limit) {
        return TaskThreads.on(started::add, limit, time);
    }

    private void runAll() {
        while (!started.isEmpty()) {
            started.remove().run();
        }
    }

    @Test
    void moreTasksThanTheLimit_oneThreadAtATimeRunsThemInOrder() {
        TaskThreads threads = queued(1);
        for (String task : List.of("a", "b", "c")) {
            threads.execute(() -> ran.add(task));
        }

        assertThat(started).hasSize(1);
        runAll();

        assertThat(ran).containsExactly("a", "b", "c");
    }

    @Test
    void limitOfTwo_twoThreadsStart() {
        TaskThreads threads = queued(2);
        for (String task : List.of("a", "b", "c")) {
            threads.execute(() -> ran.add(task));
        }

        assertThat(started).hasSize(2);
    }

    @Test
    void taskEnds_itsSlotIsFree() {
        TaskThreads threads = queued(1);
        threads.execute(() -> ran.add("a"));
        runAll();
        threads.execute(() -> ran.add("b"));

        assertThat(started).hasSize(1);
    }

    @Test
    void callTakesLong_anotherTaskRunsInItsPlace() {
        TaskThreads threads = queued(1);
        threads.execute(() -> {
            Timekeeper.Scheduled call = threads.beginCall();
            time.advance(LONG_CALL.minusNanos(1));
            assertThat(started).isEmpty();
            time.advance(Duration.ofNanos(1));
            assertThat(started).hasSize(1);
            call.cancel();
        });
        threads.execute(() -> ran.add("b"));
        threads.execute(() -> ran.add("c"));

        runAll();

        assertThat(ran).containsExactly("b", "c");
    }

    @Test
    void taskComesDuringALongCall_runsAtOnce() {
        TaskThreads threads = queued(1);
        threads.execute(() -> {
            Timekeeper.Scheduled call = threads.beginCall();
            assertThat(time.scheduledTasks()).as("no task waits").isZero();
            time.advance(LONG_CALL);

            threads.execute(() -> ran.add("b"));
            time.advance(Duration.ofNanos(1));

            assertThat(started).hasSize(1);
            call.cancel();
        });

        runAll();

        assertThat(ran).containsExactly("b");
    }

    @Test
    void shortCallsBesideALongOne_onlyTheLongOneReleasesItsSlot() {
        TaskThreads threads = queued(2);
        threads.execute(() -> {
            threads.beginCall();
            started.remove().run();
        });
        threads.execute(() -> {
            threads.execute(() -> ran.add("c"));
            threads.execute(() -> ran.add("d"));
            time.advance(LONG_CALL.dividedBy(2));
            Timekeeper.Scheduled call = threads.beginCall();

            time.advance(LONG_CALL.dividedBy(2));

            assertThat(started).hasSize(1);
            call.cancel();
            assertThat(time.scheduledTasks()).isZero();
        });

        runAll();

        assertThat(ran).containsExactlyInAnyOrder("c", "d");
    }

    @Test
    void timerFiresAlthoughItWasCanceled_leavesTheOneAfterIt() {
        List<Runnable> fired = new ArrayList<>();
        TaskThreads threads = TaskThreads.on(started::add, 1, new ForwardingTimekeeper(time) {
            @Override
            public Timekeeper.Scheduled schedule(Duration delay, Runnable task) {
                fired.add(task);
                return super.schedule(delay, task);
            }
        });
        threads.execute(() -> {
            threads.beginCall().cancel();
            Timekeeper.Scheduled call = threads.beginCall();
            assertThat(fired).hasSize(2);

            fired.get(0).run();

            assertThat(fired).hasSize(2);
            assertThat(time.scheduledTasks()).isOne();
            call.cancel();
            call.cancel();
            assertThat(time.scheduledTasks()).isZero();
        });
        threads.execute(() -> ran.add("b"));

        runAll();

        assertThat(ran).containsExactly("b");
    }

    @Test
    void callReturnsInTime_slotIsNotReleased() {
        TaskThreads threads = queued(1);
        threads.execute(() -> {
            threads.beginCall().cancel();
            time.advance(LONG_CALL);
            assertThat(started).isEmpty();
        });
        threads.execute(() -> ran.add("b"));

        runAll();

        assertThat(ran).containsExactly("b");
    }

    @Test
    void twoLongCallsOfOneTask_releaseOneSlot() {
        TaskThreads threads = queued(1);
        threads.execute(() -> {
            threads.beginCall();
            threads.beginCall();
            time.advance(LONG_CALL);
            assertThat(started).hasSize(1);
        });
        threads.execute(() -> ran.add("b"));
        threads.execute(() -> ran.add("c"));

        runAll();
        threads.execute(() -> ran.add("d"));
        threads.execute(() -> ran.add("e"));

        assertThat(ran).containsExactly("b", "c");
        assertThat(started).as("the limit holds afterwards").hasSize(1);
    }

    @Test
    void callOfAThreadWithoutATask_isIgnored() {
        queued(1).beginCall().cancel();

        assertThat(time.scheduledTasks()).isZero();
    }

    @Test
    @ExpectedWarnings("a task failed; this is a bug in Podcache or in a listener")
    void taskThrows_nextOneRuns() {
        TaskThreads threads = queued(1);
        threads.execute(() -> {
            throw new NoClassDefFoundError("X");
        });
        threads.execute(() -> ran.add("b"));

        runAll();

        assertThat(ran).containsExactly("b");
    }

    @Test
    void submitted_runsRegardlessOfTheLimit() throws Exception {
        TaskThreads threads = queued(1);
        threads.execute(() -> ran.add("a"));
        Future<String> result = threads.submit(() -> "b");

        assertThat(started).hasSize(2);
        runAll();

        assertThat(result.get()).isEqualTo("b");
    }

    @Test
    void submitted_cancelled_isInterrupted() throws Exception {
        TaskThreads threads = TaskThreads.on(NewThread.EACH, 1, time);
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch interrupted = new CountDownLatch(1);
        Future<String> result = threads.submit(() -> {
            running.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException expected) {
                interrupted.countDown();
            }
            return "";
        });
        running.await();

        result.cancel(true);

        assertThat(interrupted.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void closed_waitingAndLaterTasksDoNotRun() {
        TaskThreads threads = queued(1);
        threads.execute(() -> ran.add("a"));
        threads.execute(() -> ran.add("b"));

        threads.close();
        threads.execute(() -> ran.add("c"));
        Future<Boolean> submitted = threads.submit(() -> ran.add("d"));
        runAll();

        assertThat(ran).containsExactly("a");
        assertThat(submitted).isCancelled();
    }

    @Test
    void threadsAreShutDown_submittedTaskIsCancelled() {
        TaskThreads threads = TaskThreads.on(
                task -> {
                    throw new RejectedExecutionException("shut down");
                },
                1,
                time);

        assertThat(threads.submit(() -> ran.add("a"))).isCancelled();
    }

    @Test
    @ExpectedWarnings("cannot start a thread (unable to create native thread); retrying in PT1S")
    void noThread_taskRunsASecondLater() {
        AtomicInteger failures = new AtomicInteger(1);
        Executor scarce = task -> {
            if (failures.getAndDecrement() > 0) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            task.run();
        };
        TaskThreads threads = TaskThreads.on(scarce, 1, time);
        threads.execute(() -> ran.add("a"));
        threads.execute(() -> ran.add("b"));
        assertThat(ran).isEmpty();

        time.advance(Duration.ofSeconds(1));

        assertThat(ran).containsExactly("a", "b");
    }

    @Test
    void named_threadsHaveThatName_andEndAfterClose() throws Exception {
        TaskThreads threads = TaskThreads.named("podcache-test-tasks", 1, time);
        Future<String> name = threads.submit(() -> Thread.currentThread().getName());

        assertThat(name.get()).startsWith("podcache-test-tasks-");
        threads.close();
    }
}
