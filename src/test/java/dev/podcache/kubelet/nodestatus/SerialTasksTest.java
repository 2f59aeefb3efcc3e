package dev.podcache.kubelet.nodestatus;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.NoLeaks;
import dev.podcache.time.Timekeeper;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class SerialTasksTest {

    private static final int TASKS = 10_000;

    private final SerialTasks tasks = new SerialTasks();
    private final List<String> log = new ArrayList<>();

    @Test
    void run_whileAnotherRuns_waitsForItsFuture() {
        CompletableFuture<String> first = new CompletableFuture<>();
        CompletableFuture<String> one = tasks.run(() -> begin("one", first));
        CompletableFuture<String> two = tasks.run(() -> begin("two", CompletableFuture.completedFuture("2")));
        CompletableFuture<String> three = tasks.run(() -> begin("three", CompletableFuture.completedFuture("3")));
        assertThat(log).containsExactly("one");

        first.complete("1");

        assertThat(log).containsExactly("one", "two", "three");
        assertThat(List.of(one, two, three)).allMatch(CompletableFuture::isDone);
        assertThat(three).isCompletedWithValue("3");
    }

    @Test
    void run_taskThatThrows_failsAndStartsTheNext() {
        CompletableFuture<String> failed = tasks.run(() -> {
            throw new IllegalStateException("broken");
        });

        assertThat(failed).isCompletedExceptionally();
        assertThat(tasks.run(() -> CompletableFuture.completedFuture("next"))).isCompletedWithValue("next");
    }

    @Test
    void run_taskThatFails_failsAndStartsTheNext() {
        CompletableFuture<String> failed =
                tasks.run(() -> CompletableFuture.failedFuture(new IllegalStateException("no")));

        assertThat(failed).isCompletedExceptionally();
        assertThat(tasks.run(() -> CompletableFuture.completedFuture("next"))).isCompletedWithValue("next");
    }

    @Test
    void run_fromAStageOfATask_comesAfterWaitingTasks() {
        CompletableFuture<String> first = new CompletableFuture<>();
        CompletableFuture<String> last = tasks.run(() -> begin("one", first))
                .thenCompose(done -> tasks.run(() -> begin("three", CompletableFuture.completedFuture(""))));
        tasks.run(() -> begin("two", CompletableFuture.completedFuture("")));

        first.complete("");

        assertThat(log).containsExactly("one", "two", "three");
        assertThat(last).isDone();
    }

    @Test
    void run_manyThreads_neverTwoTasksAtOnce() {
        // neither volatile nor locked: only the order of the tasks keeps the count correct
        int[] count = new int[1];
        try (Timekeeper time = Timekeeper.system()) {
            List<CompletableFuture<Void>> all = new ArrayList<>();
            for (int i = 0; i < TASKS; i++) {
                all.add(tasks.run(() -> CompletableFuture.runAsync(() -> count[0]++, time.workers())
                        .thenRunAsync(() -> count[0]++, time.blocking())));
            }
            CompletableFuture.allOf(all.toArray(new CompletableFuture<?>[0])).join();
        }

        assertThat(count[0]).isEqualTo(2 * TASKS);
    }

    private CompletableFuture<String> begin(String name, CompletableFuture<String> task) {
        log.add(name);
        return task;
    }
}
