package dev.podcache.cli.observe;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class PeriodicTasksTest {

    @Test
    @ExpectedWarnings("test-tasks: a task failed; it runs again in the next period")
    void every_taskThatThrows_runsAgain() throws InterruptedException {
        CountDownLatch runs = new CountDownLatch(3);
        try (PeriodicTasks tasks = new PeriodicTasks("test-tasks", 1)) {
            tasks.every(Duration.ZERO, Duration.ofMillis(1), () -> {
                runs.countDown();
                if (runs.getCount() == 2) {
                    throw new IllegalStateException("once");
                }
            });

            assertThat(runs.await(60, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void run_closed_isRefused() {
        PeriodicTasks tasks = new PeriodicTasks("test-tasks", 1);
        tasks.close();

        assertThat(tasks.run(() -> {})).isFalse();
    }
}
