package dev.podcache.kubelet.podsync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.Pods;
import dev.podcache.time.TaskThreads;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RuntimeCallsTest {

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final QueuedThreads queue = new QueuedThreads();
    private final TaskThreads threads = TaskThreads.on(queue, 1, time);
    private final List<String> hanging = new ArrayList<>();

    /** Whether no task took the slot of a call that ran; asserted outside, because the threads catch what a task throws. */
    private final List<Boolean> keptSlots = new ArrayList<>();

    private final RuntimeCalls calls = new RuntimeCalls(threads, time, (pod, call) -> hanging.add(call));
    private final Pod pod = Pods.withSecrets("shop", "web", "u1");

    private void takes(Duration duration) {
        time.advance(duration);
    }

    @Test
    void callReturnsInTime_nothingIsReported_andNoTimerIsLeft() throws Exception {
        assertThat(calls.<String>call(pod, "status", () -> {
                    takes(Duration.ofMillis(29_999));
                    return "ok";
                }))
                .isEqualTo("ok");

        takes(Duration.ofMinutes(1));
        assertThat(hanging).isEmpty();
        assertThat(time.scheduledTasks()).isZero();
    }

    @Test
    void callTakes30Seconds_isReportedOnce_andItsResultCounts() throws Exception {
        calls.run(pod, "mount of volumes", () -> {
            takes(Duration.ofSeconds(30));
            assertThat(hanging).hasSize(1);
            takes(Duration.ofMinutes(5));
        });

        assertThat(hanging).containsExactly("mount of volumes has not returned for 30 s");
    }

    @Test
    void callHasAGracePeriod_thatIsAllowedInAddition() throws Exception {
        calls.run(pod, "stop", Duration.ofSeconds(60), () -> {
            takes(Duration.ofSeconds(89));
            assertThat(hanging).isEmpty();
            takes(Duration.ofSeconds(1));
        });

        assertThat(hanging).containsExactly("stop has not returned for 90 s");
    }

    @Test
    void callFails_timerIsCancelled() {
        assertThatThrownBy(() -> calls.run(pod, "stop", () -> {
                    throw new NoClassDefFoundError("X");
                }))
                .isInstanceOf(NoClassDefFoundError.class);

        assertThat(time.scheduledTasks()).isZero();
    }

    @Test
    void callFailsBecauseOfAnInterrupt_countsAsInterrupted() {
        assertThatThrownBy(() -> calls.run(pod, "mount of volumes", () -> {
                    // as a channel does when its thread is interrupted
                    Thread.currentThread().interrupt();
                    throw new ClosedByInterruptException();
                }))
                .isInstanceOf(InterruptedException.class);
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void callFails_failureIsPassedOn() {
        assertThatThrownBy(() -> calls.run(pod, "mount of volumes", () -> {
                    throw new IOException("no space left on device");
                }))
                .isInstanceOf(IOException.class)
                .hasMessage("no space left on device");
    }

    @Test
    void callTakesLong_otherTasksRun_butAnOrdinaryCallKeepsItsSlot() {
        List<String> ran = new ArrayList<>();
        threads.execute(() -> {
            try {
                calls.run(pod, "start", () -> takes(Duration.ofMillis(99)));
                keptSlots.add(queue.isEmpty());
                calls.run(pod, "start", () -> takes(Duration.ofMillis(100)));
                keptSlots.add(queue.isEmpty());
            } catch (IOException | InterruptedException e) {
                throw new AssertionError(e);
            }
            ran.add("slow");
        });
        threads.execute(() -> ran.add("other"));

        queue.runAll();

        assertThat(keptSlots).containsExactly(true, false);
        assertThat(ran).containsExactly("slow", "other");
    }

    @Test
    void hook_mayTakeAnyTime_withoutAReport_butReleasesItsSlot() {
        List<String> ran = new ArrayList<>();
        threads.execute(() -> {
            try {
                calls.unlimited(() -> {
                    takes(Duration.ofHours(1));
                    return ran.add("hook");
                });
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            keptSlots.add(queue.isEmpty());
        });
        threads.execute(() -> ran.add("other"));

        queue.runAll();

        assertThat(keptSlots).containsExactly(false);
        assertThat(ran).containsExactly("hook", "other");
        assertThat(hanging).isEmpty();
    }
}
