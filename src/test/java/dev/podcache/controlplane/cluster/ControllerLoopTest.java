package dev.podcache.controlplane.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.NoLeaks;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class ControllerLoopTest {

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final ControllerLoop loop = new ControllerLoop(timekeeper);
    private final List<String> ran = new ArrayList<>();

    @Test
    void taskSubmitsAnother_itRunsAfterwards() {
        loop.execute(() -> {
            loop.execute(() -> ran.add("inner"));
            ran.add("outer");
        });

        assertThat(ran).containsExactly("outer", "inner");
    }

    @Test
    void taskThrows_theNextRuns(NoLeaks leaks) {
        leaks.allowWarnings("a task of a controller threw");

        loop.execute(() -> {
            throw new IllegalStateException("expected");
        });
        loop.execute(() -> ran.add("next"));

        assertThat(ran).containsExactly("next");
    }

    @Test
    void scheduledTask_runsAfterItsDelay_unlessItIsCancelled() {
        loop.schedule(Duration.ofSeconds(2), () -> ran.add("second"));
        loop.schedule(Duration.ofSeconds(1), () -> ran.add("first"));
        loop.schedule(Duration.ofSeconds(1), () -> ran.add("cancelled")).cancel();

        timekeeper.advance(Duration.ofSeconds(3));

        assertThat(ran).containsExactly("first", "second");
    }

    @Test
    void timerHasFired_cancelledByTheRunningTask_doesNotRun() {
        Timekeeper.Scheduled[] later = new Timekeeper.Scheduled[1];
        loop.execute(() -> {
            later[0] = loop.schedule(Duration.ofSeconds(1), () -> ran.add("cancelled"));
            // the timer fires while this task runs
            timekeeper.advance(Duration.ofSeconds(1));
            later[0].cancel();
        });

        assertThat(ran).isEmpty();
    }

    @Test
    void closed_runsNothingAnyMore() {
        CompletableFuture<String> answer = new CompletableFuture<>();
        loop.whenDone(answer, (value, failure) -> ran.add("answer"));
        loop.schedule(Duration.ofSeconds(1), () -> ran.add("timer"));
        loop.execute(() -> {
            loop.execute(() -> ran.add("waiting"));
            loop.close();
        });

        answer.complete("");
        timekeeper.advance(Duration.ofSeconds(2));
        loop.execute(() -> ran.add("later"));

        assertThat(ran).isEmpty();
    }

    @Test
    void manyThreads_tasksRunOneAtATime() throws Exception {
        int threads = 4;
        int tasks = 10_000;
        int[] count = new int[1];
        try (Timekeeper real = Timekeeper.system()) {
            ControllerLoop shared = new ControllerLoop(real);
            CompletableFuture<?>[] submitting = IntStream.range(0, threads)
                    .mapToObj(thread -> CompletableFuture.runAsync(
                            () -> IntStream.range(0, tasks).forEach(task -> shared.execute(() -> count[0]++)),
                            NewThread.EACH))
                    .toArray(CompletableFuture<?>[]::new);
            CompletableFuture.allOf(submitting).get(60, TimeUnit.SECONDS);
            CompletableFuture<Integer> sum = new CompletableFuture<>();
            shared.execute(() -> sum.complete(count[0]));

            assertThat(sum.get(60, TimeUnit.SECONDS)).isEqualTo(threads * tasks);
        }
    }

    @Test
    void slots_limitTheRequestsInFlight_andAreFreeAfterAnyEnd() {
        RequestSlots slots = new RequestSlots(loop, 2);
        List<CompletableFuture<String>> requests = new ArrayList<>();
        List<CompletableFuture<String>> answers = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            answers.add(slots.send(() -> {
                requests.add(new CompletableFuture<>());
                return requests.get(requests.size() - 1);
            }));
        }
        assertThat(requests).hasSize(2);

        requests.get(0).complete("a");
        requests.get(1).completeExceptionally(new IllegalStateException("expected"));

        assertThat(requests).hasSize(4);
        assertThat(answers.get(0)).isCompletedWithValue("a");
        assertThat(answers.get(1)).isCompletedExceptionally();
        assertThat(slots.send(() -> {
                    throw new IllegalStateException("expected");
                }))
                .isNotDone();
    }

    @Test
    void requestThrows_itsAnswerFails() {
        RequestSlots slots = new RequestSlots(loop, 1);

        CompletableFuture<String> answer = slots.send(() -> {
            throw new IllegalStateException("expected");
        });

        assertThat(answer).isCompletedExceptionally();
        assertThat(slots.send(() -> CompletableFuture.completedFuture("b"))).isCompletedWithValue("b");
    }
}
