package dev.podcache.podsync;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.Pods;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import org.junit.jupiter.api.Test;

/** Whose turn it is: with an executor that runs what a test tells it to. */
class PodWorkerTest {

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final Queue<Runnable> executor = new ArrayDeque<>();
    private final List<String> turns = new ArrayList<>();
    private Optional<Duration> pause = Optional.empty();
    private Runnable duringTurn = () -> {};
    private final PodWorker worker =
            new PodWorker(Pods.withSecrets("shop", "web", "u1", "a"), this::take, executor::add, timekeeper);

    private Optional<Duration> take(Pod pod, boolean gone) {
        turns.add(gone ? "gone" : "" + pod.getMetadata().getLabels());
        Runnable meanwhile = duringTurn;
        duringTurn = () -> {};
        meanwhile.run();
        return pause;
    }

    private static Pod labelled(String value) {
        Pod pod = Pods.withSecrets("shop", "web", "u1", "a");
        pod.getMetadata().setLabels(java.util.Map.of("l", value));
        return pod;
    }

    private void runAll() {
        while (!executor.isEmpty()) {
            executor.remove().run();
        }
    }

    @Test
    void changes_beforeTheTurnBegins_costOneTurnThatSeesTheLast() {
        worker.begin();
        worker.changed(labelled("1"));
        worker.changed(labelled("2"));

        runAll();

        assertThat(turns).containsExactly("{l=2}");
    }

    @Test
    void change_duringATurn_isSeenByATurnAfterIt() {
        duringTurn = () -> {
            worker.changed(labelled("1"));
            assertThat(executor).isEmpty();
        };
        worker.begin();

        runAll();

        assertThat(turns).containsExactly("{}", "{l=1}");
    }

    @Test
    void pause_passes_nextTurn() {
        pause = Optional.of(Duration.ofSeconds(10));
        worker.begin();
        runAll();

        timekeeper.advance(Duration.ofSeconds(9));
        assertThat(executor).isEmpty();
        timekeeper.advance(Duration.ofSeconds(1));
        runAll();

        assertThat(turns).hasSize(2);
    }

    @Test
    void change_duringAPause_endsIt() {
        pause = Optional.of(Duration.ofSeconds(10));
        worker.begin();
        runAll();

        worker.changed(labelled("1"));
        runAll();

        assertThat(turns).hasSize(2);
        assertThat(timekeeper.scheduledTasks()).isEqualTo(1);
    }

    @Test
    void gone_duringATurn_isTheLastTurn() {
        duringTurn = worker::gone;
        worker.begin();

        runAll();

        assertThat(turns).containsExactly("{}", "gone");
        assertThat(timekeeper.scheduledTasks()).isZero();
    }

    @Test
    void closed_duringATurn_noTurnFollows() {
        pause = Optional.of(Duration.ofSeconds(10));
        duringTurn = () -> {
            worker.changed(labelled("1"));
            worker.close();
        };
        worker.begin();

        runAll();

        assertThat(turns).hasSize(1);
        assertThat(timekeeper.scheduledTasks()).isZero();
    }

    @Test
    void closed_timerHasFired_beginsNoTurn() {
        pause = Optional.of(Duration.ofSeconds(10));
        worker.begin();
        runAll();

        worker.close();
        worker.changed(labelled("1"));
        timekeeper.advance(Duration.ofMinutes(1));

        assertThat(executor).isEmpty();
    }
}
