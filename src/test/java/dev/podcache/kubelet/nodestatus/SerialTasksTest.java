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

    private final SerialTasks turns = new SerialTasks();
    private final List<String> log = new ArrayList<>();

    @Test
    void take_whileTaken_waitsForTheFutureOfTheOneBefore() {
        CompletableFuture<String> first = new CompletableFuture<>();
        CompletableFuture<String> one = turns.take(() -> begin("one", first));
        CompletableFuture<String> two = turns.take(() -> begin("two", CompletableFuture.completedFuture("2")));
        CompletableFuture<String> three = turns.take(() -> begin("three", CompletableFuture.completedFuture("3")));
        assertThat(log).containsExactly("one");

        first.complete("1");

        assertThat(log).containsExactly("one", "two", "three");
        assertThat(List.of(one, two, three)).allMatch(CompletableFuture::isDone);
        assertThat(three).isCompletedWithValue("3");
    }

    @Test
    void take_taskThatThrows_failsAndPassesTheTurnOn() {
        CompletableFuture<String> failed = turns.take(() -> {
            throw new IllegalStateException("broken");
        });

        assertThat(failed).isCompletedExceptionally();
        assertThat(turns.take(() -> CompletableFuture.completedFuture("next"))).isCompletedWithValue("next");
    }

    @Test
    void take_taskThatFails_failsAndPassesTheTurnOn() {
        CompletableFuture<String> failed =
                turns.take(() -> CompletableFuture.failedFuture(new IllegalStateException("no")));

        assertThat(failed).isCompletedExceptionally();
        assertThat(turns.take(() -> CompletableFuture.completedFuture("next"))).isCompletedWithValue("next");
    }

    @Test
    void take_fromWhatFollowsOnATask_comesAfterThoseThatWait() {
        CompletableFuture<String> first = new CompletableFuture<>();
        CompletableFuture<String> last = turns.take(() -> begin("one", first))
                .thenCompose(done -> turns.take(() -> begin("three", CompletableFuture.completedFuture(""))));
        turns.take(() -> begin("two", CompletableFuture.completedFuture("")));

        first.complete("");

        assertThat(log).containsExactly("one", "two", "three");
        assertThat(last).isDone();
    }

    @Test
    void take_manyThreads_neverTwoTasksAtOnce() {
        // neither volatile nor locked: the turn is all that keeps the count right
        int[] count = new int[1];
        try (Timekeeper time = Timekeeper.system()) {
            List<CompletableFuture<Void>> all = new ArrayList<>();
            for (int i = 0; i < TASKS; i++) {
                all.add(turns.take(() -> CompletableFuture.runAsync(() -> count[0]++, time.workers())
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
