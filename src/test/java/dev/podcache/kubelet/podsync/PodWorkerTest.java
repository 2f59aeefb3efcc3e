package dev.podcache.kubelet.podsync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.Pods;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Whose turn it is: with an executor that runs what a test tells it to. */
class PodWorkerTest {

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final QueuedThreads executor = new QueuedThreads();
    private final QueuedThreads ending = new QueuedThreads();
    private final PodThreads threads = new PodThreads(executor, ending);
    private final List<String> turns = new ArrayList<>();
    private Optional<Duration> pause = Optional.empty();
    private Runnable duringTurn = () -> {};
    private final PodWorker worker =
            new PodWorker(Pods.withSecrets("shop", "web", "u1", "a"), new Turns(), threads, timekeeper);

    private final class Turns implements PodWorker.PodTurns {

        @Override
        public Optional<Duration> take(Pod pod, boolean gone) {
            turns.add(gone ? "gone" : "" + pod.getMetadata().getLabels());
            Runnable meanwhile = duringTurn;
            duringTurn = () -> {};
            meanwhile.run();
            return pause;
        }

        @Override
        public void over() {
            turns.add("over");
        }
    }

    private static Pod labelled(String value) {
        Pod pod = Pods.withSecrets("shop", "web", "u1", "a");
        pod.getMetadata().setLabels(java.util.Map.of("l", value));
        return pod;
    }

    private void runAll() {
        while (!executor.isEmpty() || !ending.isEmpty()) {
            executor.runAll();
            ending.runAll();
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
            assertThat(executor.isEmpty()).isTrue();
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
        assertThat(executor.isEmpty()).isTrue();
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

        assertThat(turns).containsExactly("{}", "gone", "over");
        assertThat(timekeeper.scheduledTasks()).isZero();
    }

    @Test
    void goneTwice_costsOneTurn() {
        worker.begin();
        runAll();

        worker.gone();
        runAll();
        worker.gone();
        runAll();

        assertThat(turns).containsExactly("{}", "gone", "over");
    }

    @Test
    void gone_somethingIsLeftToDo_isOverOnlyWhenThatIsDone() {
        worker.begin();
        runAll();
        pause = Optional.of(Duration.ofSeconds(10));
        worker.gone();
        runAll();
        assertThat(worker.isOver()).isFalse();

        pause = Optional.empty();
        timekeeper.advance(Duration.ofSeconds(10));
        runAll();

        assertThat(turns).containsExactly("{}", "gone", "gone", "over");
    }

    @Test
    void gone_turnsUpAgainDuringThatTurn_goesOn() {
        worker.begin();
        runAll();
        duringTurn = () -> assertThat(worker.changed(labelled("1"))).isTrue();

        worker.gone();
        runAll();

        assertThat(turns).containsExactly("{}", "gone", "{l=1}");
        assertThat(worker.isOver()).isFalse();
    }

    @Test
    void gone_turnsUpAgainBeforeThatTurn_isAsIfNothingHadBeen() {
        worker.begin();
        runAll();

        worker.gone();
        worker.changed(labelled("1"));
        runAll();

        assertThat(turns).containsExactly("{}", "{l=1}");
    }

    @Test
    void over_turnsUpAgain_needsAnotherWorker() {
        worker.begin();
        worker.gone();
        runAll();

        assertThat(worker.changed(labelled("1"))).isFalse();
        runAll();

        assertThat(turns).containsExactly("gone", "over");
    }

    @Test
    void podIsDeleted_whileOthersOccupyAllThreads_isStoppedAllTheSame() {
        worker.begin();
        executor.runAll();

        worker.gone();
        ending.runAll();

        assertThat(turns).containsExactly("{}", "gone", "over");
    }

    @Test
    void podIsDeleted_beforeItsTurnBegins_takesNoThreadFromOthers() {
        worker.begin();
        Pod deleted = Pods.withSecrets("shop", "web", "u1", "a");
        deleted.getMetadata().setDeletionTimestamp("2026-11-21T15:00:00Z");
        worker.changed(deleted);

        executor.runAll();
        assertThat(turns).isEmpty();
        ending.runAll();

        assertThat(turns).hasSize(1);
    }

    @Test
    void threadsHaveEnded_timerFires_nobodyIsTold() {
        threads.shutdown();
        PodWorker late = new PodWorker(Pods.withSecrets("shop", "web", "u1", "a"), new Turns(), threads, timekeeper);

        assertThatCode(late::begin).doesNotThrowAnyException();
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

        assertThat(executor.isEmpty()).isTrue();
    }
}
