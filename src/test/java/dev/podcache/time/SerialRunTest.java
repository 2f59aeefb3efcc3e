package dev.podcache.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.testing.NewThread;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SerialRunTest {

    private final Queue<Runnable> submitted = new ArrayDeque<>();
    private final List<String> log = new ArrayList<>();
    private Runnable during = () -> {};
    private final SerialRun onThreads = SerialRun.on(submitted::add, this::task);
    private final SerialRun onCaller = SerialRun.onCaller(this::task);

    private void task() {
        log.add("begin");
        Runnable once = during;
        during = () -> {};
        once.run();
        log.add("end");
    }

    @Test
    void request_severalBeforeARun_causeOne() {
        onThreads.request();
        onThreads.request();
        onThreads.request();
        assertThat(submitted).hasSize(1);
        submitted.remove().run();

        assertThat(log).containsExactly("begin", "end");
        assertThat(submitted).isEmpty();
    }

    @Test
    void request_duringARun_anotherFollowsAsATaskOfItsOwn() {
        during = () -> {
            onThreads.request();
            onThreads.request();
            assertThat(submitted).isEmpty();
        };
        onThreads.request();
        submitted.remove().run();
        assertThat(log).containsExactly("begin", "end");

        submitted.remove().run();
        assertThat(log).containsExactly("begin", "end", "begin", "end");
        assertThat(submitted).isEmpty();
    }

    @Test
    void request_onCallerDuringARun_returnsAndAnotherFollows() {
        during = () -> {
            onCaller.request();
            log.add("requested");
        };
        onCaller.request();

        assertThat(log).containsExactly("begin", "requested", "end", "begin", "end");
    }

    @Test
    void request_onCallerTenThousandTimesFromRuns_doesNotNest() {
        AtomicInteger runs = new AtomicInteger();
        SerialRun[] run = new SerialRun[1];
        run[0] = SerialRun.onCaller(() -> {
            if (runs.incrementAndGet() < 10_000) {
                run[0].request();
            }
        });
        run[0].request();

        assertThat(runs).hasValue(10_000);
    }

    @Test
    void requestUnlessRunning_duringARun_doesNothing() {
        during = () -> log.add(String.valueOf(onThreads.requestUnlessRunning()));
        assertThat(onThreads.requestUnlessRunning()).isTrue();
        assertThat(onThreads.requestUnlessRunning()).isFalse();
        submitted.remove().run();

        assertThat(log).containsExactly("begin", "false", "end");
        assertThat(submitted).isEmpty();
    }

    @Test
    void task_throwsAnError_nextRequestRuns() {
        during = () -> {
            throw new OutOfMemoryError("of the task");
        };
        onThreads.request();
        assertThatThrownBy(submitted.remove()::run).isInstanceOf(OutOfMemoryError.class);
        onThreads.request();
        submitted.remove().run();

        assertThat(log).containsExactly("begin", "begin", "end");
    }

    @Test
    void task_throwsAnErrorAfterARequest_theRunFollows() {
        for (SerialRun run : List.of(onThreads, onCaller)) {
            log.clear();
            during = () -> {
                run.request();
                throw new StackOverflowError("of the task");
            };
            assertThatThrownBy(() -> {
                        run.request();
                        submitted.remove().run();
                    })
                    .isInstanceOf(StackOverflowError.class);
            Stream.ofNullable(submitted.poll()).forEach(Runnable::run);

            assertThat(log).containsExactly("begin", "begin", "end");
        }
    }

    @Test
    void executor_throws_nextRequestIsSubmitted() {
        AtomicBoolean closed = new AtomicBoolean(true);
        Executor threads = task -> {
            if (closed.get()) {
                throw new RejectedExecutionException("closed");
            }
            task.run();
        };
        SerialRun run = SerialRun.on(threads, this::task);
        assertThatThrownBy(run::request).isInstanceOf(RejectedExecutionException.class);
        closed.set(false);
        run.request();

        assertThat(log).containsExactly("begin", "end");
    }

    /** A request that no run follows would leave the last number unseen. */
    @Test
    void request_ofManyThreads_oneRunAtATimeAndNoneIsLost() {
        for (Executor threads : List.of(NewThread.EACH, (Executor) Runnable::run)) {
            AtomicInteger wanted = new AtomicInteger();
            AtomicInteger inside = new AtomicInteger();
            AtomicInteger overlaps = new AtomicInteger();
            AtomicInteger seen = new AtomicInteger();
            SerialRun run = SerialRun.on(threads, () -> {
                overlaps.addAndGet(inside.getAndIncrement());
                seen.set(wanted.get());
                inside.decrementAndGet();
            });
            List<CompletableFuture<Void>> requests = Stream.generate(() -> CompletableFuture.runAsync(
                            () -> {
                                for (int i = 0; i < 200; i++) {
                                    wanted.incrementAndGet();
                                    run.request();
                                }
                            },
                            NewThread.EACH))
                    .limit(4)
                    .toList();
            requests.forEach(CompletableFuture::join);
            while (seen.get() < wanted.get()) {
                Thread.onSpinWait();
            }
            assertThat(overlaps).hasValue(0);
        }
    }
}
