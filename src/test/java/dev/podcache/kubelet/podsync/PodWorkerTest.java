package dev.podcache.kubelet.podsync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.util.concurrent.Uninterruptibles;
import dev.podcache.testing.ForwardingTimekeeper;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.Pods;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** The scheduling of a pod's syncs, with executors that run a task when the test calls them. */
class PodWorkerTest {

    private static final Pod GONE = Pods.withSecrets("shop", "web", "u1", "a");

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final QueuedThreads executor = new QueuedThreads();
    private final List<String> syncs = new ArrayList<>();
    private Optional<Duration> pause = Optional.empty();
    private Runnable duringSync = () -> {};
    private final PodWorker worker =
            new PodWorker(Pods.withSecrets("shop", "web", "u1", "a"), new RecordedSyncs(), executor, timekeeper);

    private final class RecordedSyncs implements PodWorker.PodSync {

        @Override
        public Optional<Duration> sync(Pod pod, boolean gone) {
            syncs.add(gone ? "gone" : "" + pod.getMetadata().getLabels());
            Runnable meanwhile = duringSync;
            duringSync = () -> {};
            meanwhile.run();
            return pause;
        }

        @Override
        public void finished() {
            syncs.add("finished");
        }
    }

    private static Pod labelled(String value) {
        Pod pod = Pods.withSecrets("shop", "web", "u1", "a");
        pod.getMetadata().setLabels(java.util.Map.of("l", value));
        return pod;
    }

    private void runAll() {
        executor.runAll();
    }

    @Test
    void changes_beforeASyncStarts_causeOneSyncOfTheNewest() {
        worker.requestSync();
        worker.changed(labelled("1"));
        worker.changed(labelled("2"));

        runAll();

        assertThat(syncs).containsExactly("{l=2}");
    }

    @Test
    void change_duringASync_causesAnotherSync() {
        duringSync = () -> {
            worker.changed(labelled("1"));
            assertThat(executor.isEmpty()).isTrue();
        };
        worker.requestSync();

        runAll();

        assertThat(syncs).containsExactly("{}", "{l=1}");
    }

    @Test
    void pause_passes_nextSync() {
        pause = Optional.of(Duration.ofSeconds(10));
        worker.requestSync();
        runAll();

        timekeeper.advance(Duration.ofSeconds(9));
        assertThat(executor.isEmpty()).isTrue();
        timekeeper.advance(Duration.ofSeconds(1));
        runAll();

        assertThat(syncs).hasSize(2);
    }

    @Test
    void change_duringAPause_endsIt() {
        pause = Optional.of(Duration.ofSeconds(10));
        worker.requestSync();
        runAll();

        worker.changed(labelled("1"));
        runAll();

        assertThat(syncs).hasSize(2);
        assertThat(timekeeper.scheduledTasks()).isEqualTo(1);
    }

    @Test
    void gone_duringASync_causesTheLastSync() {
        duringSync = () -> worker.gone(GONE);
        worker.requestSync();

        runAll();

        assertThat(syncs).containsExactly("{}", "gone", "finished");
        assertThat(timekeeper.scheduledTasks()).isZero();
    }

    @Test
    void goneTwice_causesOneSync() {
        worker.requestSync();
        runAll();

        worker.gone(GONE);
        runAll();
        worker.gone(GONE);
        runAll();

        assertThat(syncs).containsExactly("{}", "gone", "finished");
    }

    @Test
    void gone_somethingIsLeftToDo_isFinishedOnlyWhenThatIsDone() {
        worker.requestSync();
        runAll();
        pause = Optional.of(Duration.ofSeconds(10));
        worker.gone(GONE);
        runAll();
        assertThat(worker.isFinished()).isFalse();

        pause = Optional.empty();
        timekeeper.advance(Duration.ofSeconds(10));
        runAll();

        assertThat(syncs).containsExactly("{}", "gone", "gone", "finished");
    }

    @Test
    void gone_reappearsDuringThatSync_continues() {
        worker.requestSync();
        runAll();
        duringSync = () -> assertThat(worker.changed(labelled("1"))).isTrue();

        worker.gone(GONE);
        runAll();

        assertThat(syncs).containsExactly("{}", "gone", "{l=1}");
        assertThat(worker.isFinished()).isFalse();
    }

    @Test
    void gone_reappearsBeforeThatSync_isAnOrdinaryChange() {
        worker.requestSync();
        runAll();

        worker.gone(GONE);
        worker.changed(labelled("1"));
        runAll();

        assertThat(syncs).containsExactly("{}", "{l=1}");
    }

    @Test
    void finished_reappears_needsAnotherWorker() {
        worker.requestSync();
        worker.gone(GONE);
        runAll();

        assertThat(worker.changed(labelled("1"))).isFalse();
        runAll();

        assertThat(syncs).containsExactly("gone", "finished");
    }

    @Test
    void podIsToEnd_duringASync_interruptsIt() {
        duringSync = () -> {
            worker.changed(deleted(30));
            assertThat(Thread.interrupted()).isTrue();
        };
        worker.requestSync();

        runAll();

        assertThat(syncs).hasSize(2);
    }

    @Test
    void gracePeriodIsShortened_duringASync_interruptsIt() {
        worker.changed(deleted(30));
        duringSync = () -> {
            worker.changed(deleted(30));
            assertThat(Thread.interrupted()).isFalse();
            worker.changed(deleted(5));
            assertThat(Thread.interrupted()).isTrue();
        };

        runAll();

        assertThat(syncs).hasSize(2);
    }

    @Test
    void gone_duringASync_interruptsIt_butNotTheNextTaskOfTheThread() {
        duringSync = () -> worker.gone(GONE);
        worker.requestSync();

        runAll();

        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void ordinaryChange_duringASync_doesNotInterruptIt() {
        duringSync = () -> {
            worker.changed(labelled("1"));
            assertThat(Thread.interrupted()).isFalse();
        };
        worker.requestSync();

        runAll();
    }

    private static Pod deleted(long gracePeriodSeconds) {
        Pod pod = Pods.withSecrets("shop", "web", "u1", "a");
        pod.getMetadata().setDeletionTimestamp("2026-11-21T15:00:00Z");
        pod.getMetadata().setDeletionGracePeriodSeconds(gracePeriodSeconds);
        return pod;
    }

    @Test
    void closed_duringASync_noSyncFollows() {
        pause = Optional.of(Duration.ofSeconds(10));
        duringSync = () -> {
            worker.changed(labelled("1"));
            worker.close();
        };
        worker.requestSync();

        runAll();

        assertThat(syncs).hasSize(1);
        assertThat(timekeeper.scheduledTasks()).isZero();
    }

    @Test
    void closed_beforeARequestedSyncHasStarted_itDoesNotStart() {
        worker.requestSync();

        worker.close();
        runAll();

        assertThat(syncs).isEmpty();
    }

    @Test
    void closed_timerHasFired_startsNoSync() {
        pause = Optional.of(Duration.ofSeconds(10));
        worker.requestSync();
        runAll();

        worker.close();
        worker.changed(labelled("1"));
        timekeeper.advance(Duration.ofMinutes(1));

        assertThat(executor.isEmpty()).isTrue();
    }

    @Test
    void sync_throwsAnError_laterSyncsRunAndCloseCompletes() {
        for (int i = 0; i < 20; i++) {
            duringSync = () -> {
                throw new OutOfMemoryError("of a sync");
            };
            worker.requestSync();
            assertThatThrownBy(this::runAll).isInstanceOf(OutOfMemoryError.class);
        }
        timekeeper.advance(Duration.ofSeconds(10));
        runAll();

        assertThat(syncs).hasSize(21);
        assertThat(worker.close()).isDone();
    }

    @Test
    void sync_throwsAnErrorWhileItIsClosed_closeCompletes() {
        List<CompletableFuture<Void>> closes = new ArrayList<>();
        Thread closer = new Thread(() -> closes.add(worker.close()));
        duringSync = () -> {
            closer.start();
            Uninterruptibles.joinUninterruptibly(closer);
            throw new OutOfMemoryError("of a sync");
        };
        worker.requestSync();

        assertThatThrownBy(this::runAll).isInstanceOf(OutOfMemoryError.class);

        assertThat(closes).hasSize(1).allMatch(CompletableFuture::isDone);
    }

    @Test
    void noThreadTakesASync_theNextRequestDoes() {
        AtomicBoolean full = new AtomicBoolean(true);
        Executor threads = task -> {
            if (full.get()) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            executor.execute(task);
        };
        PodWorker unlucky = new PodWorker(GONE, new RecordedSyncs(), threads, timekeeper);
        assertThatThrownBy(unlucky::requestSync).isInstanceOf(OutOfMemoryError.class);

        full.set(false);
        unlucky.requestSync();
        runAll();

        assertThat(syncs).hasSize(1);
    }

    @Test
    void timerThrowsAnError_laterSyncsRun() {
        AtomicBoolean full = new AtomicBoolean(true);
        ForwardingTimekeeper time = new ForwardingTimekeeper(timekeeper) {
            @Override
            public Scheduled schedule(Duration delay, Runnable task) {
                if (full.get()) {
                    throw new OutOfMemoryError("of a timer");
                }
                return super.schedule(delay, task);
            }
        };
        PodWorker unlucky = new PodWorker(GONE, new RecordedSyncs(), executor, time);
        pause = Optional.of(Duration.ofSeconds(10));
        unlucky.requestSync();
        assertThatThrownBy(this::runAll).isInstanceOf(OutOfMemoryError.class);

        full.set(false);
        unlucky.requestSync();
        runAll();

        assertThat(syncs).hasSize(2);
        assertThat(timekeeper.scheduledTasks()).isEqualTo(1);
    }
}
