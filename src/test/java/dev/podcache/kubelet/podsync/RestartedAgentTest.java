package dev.podcache.kubelet.podsync;

import static dev.podcache.kubelet.podsync.WorkersFixture.pod;
import static dev.podcache.kubelet.podsync.WorkersFixture.withEnvFrom;
import static dev.podcache.testing.Pods.withVolume;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.Fetched;
import dev.podcache.embedded.Verb;
import dev.podcache.manager.Manager;
import dev.podcache.object.ObjectUnavailableException;
import dev.podcache.pod.PodReferences;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What an agent finds at its start: pods that run, have ended or were deleted while it was away. */
@ExtendWith(NoLeaks.class)
class RestartedAgentTest {

    private final WorkersFixture node = new WorkersFixture();

    @AfterEach
    void tearDown() {
        node.close();
    }

    private Pod createAndRestartContainerOnce(PodBuilder pod) throws Exception {
        Pod created = node.create(pod);
        node.runtime.stopPod(PodReferences.key(created), Duration.ZERO);
        node.workers.changed(created.getMetadata().getUid());
        node.settle();
        return created;
    }

    @Test
    void runtimeForgotAPod_andItsVolumeIsMissing_restartCountAndEndAreKept() throws Exception {
        node.secret("certs", "one");
        node.start();
        createAndRestartContainerOnce(withVolume(pod("web"), "certs"));
        assertThat(node.container("web", "main").getRestartCount()).isEqualTo(1);
        node.stop();
        node.server.cluster().delete(Secrets.of("shop", "certs", ""));

        try (WorkersFixture next = node.successor()) {
            next.runtime.forgetsAll = true;
            next.start();
            next.settle();

            ContainerStatus main = next.container("web", "main");
            assertThat(main.getRestartCount()).isEqualTo(1);
            assertThat(main.getState().getTerminated().getExitCode()).isEqualTo(137);
            assertThat(main.getState().getTerminated().getReason()).isEqualTo("ContainerStatusUnknown");
            assertThat(next.status("web").getPhase()).isEqualTo("Running");
            assertThat(next.runtime.calls).isEmpty();
        }
    }

    @Test
    void runtimeForgotAPod_containerIsStartedAgainWithItsHistory() throws Exception {
        node.start();
        createAndRestartContainerOnce(pod("web"));
        node.stop();

        try (WorkersFixture next = node.successor()) {
            next.runtime.forgetsAll = true;
            next.start();
            next.settle();

            ContainerStatus main = next.container("web", "main");
            assertThat(main.getState().getRunning()).isNotNull();
            assertThat(main.getRestartCount()).isEqualTo(2);
            assertThat(main.getLastState().getTerminated().getExitCode()).isEqualTo(137);
        }
    }

    @Test
    void finishedPods_areNeitherRegisteredNorStopped() throws Exception {
        node.secret("db", "s3cret");
        node.start();
        Pod job = node.create(withEnvFrom(pod("job"), "db")
                .editSpec()
                .withRestartPolicy("Never")
                .endSpec());
        node.runtime.stopPod(PodReferences.key(job), Duration.ZERO);
        node.workers.changed(job.getMetadata().getUid());
        node.settle();
        node.stop();
        node.server.clearActions();

        try (WorkersFixture next = node.successor()) {
            next.start();
            next.timekeeper.advance(WorkersFixture.SYNC.multipliedBy(2));

            assertThat(next.runtime.calls).isEmpty();
            assertThat(next.server.actions())
                    .noneMatch(action ->
                            action.key() != null && action.key().name().equals("db"));
            assertThat(next.status("job").getPhase()).isEqualTo("Succeeded");
        }
    }

    @Test
    void podsThatRun_areLeftAloneWithoutAWrite() {
        node.secret("db", "s3cret");
        node.start();
        node.create(withEnvFrom(pod("web"), "db"));
        node.stop();
        node.runtime.calls.clear();
        node.server.clearActions();

        try (WorkersFixture next = node.successor()) {
            next.start();
            next.timekeeper.advance(WorkersFixture.SYNC);

            assertThat(next.runtime.calls).isEmpty();
            assertThat(next.server.count(Verb.PATCH)).isZero();
            assertThat(next.status("web").getPhase()).isEqualTo("Running");
            assertThat(Secrets.value(next.secrets.getObject("shop", "db"))).isEqualTo("s3cret");
        }
    }

    /** Returns the value, or why there is none. */
    private static String read(Manager<Secret> secrets, String name) {
        try {
            return Secrets.value(secrets.getObject("shop", name));
        } catch (ObjectUnavailableException e) {
            return String.valueOf(e.getMessage());
        }
    }

    @Test
    void podIsBeingDeleted_isRegisteredUntilItHasStopped() {
        node.secret("db", "s3cret");
        node.start();
        Pod web = node.create(withEnvFrom(pod("web"), "db"));
        node.end();
        node.server.cluster().delete(web);
        List<String> readWhileItStops = new ArrayList<>();

        try (WorkersFixture next = node.successorWithThisRuntime()) {
            next.runtime.duringStop = () -> readWhileItStops.add(read(next.secrets, "db"));
            next.start();
            next.settle();

            assertThat(readWhileItStops).containsExactly("s3cret");
            assertThat(next.exists("web")).isFalse();
            assertThat(next.server.openWatches()).isEqualTo(2);
        }
    }

    @Test
    @ExpectedWarnings(
            "stopping pod shop/lost(u-lost): the runtime has it, but neither the API server nor a file of this node")
    void podThatWasDeletedMeanwhile_isStoppedAndForgotten() {
        node.secret("db", "s3cret");
        Pod orphan = running("lost");

        node.runtime.status(orphan);
        node.start();

        assertThat(node.runtime.calls).containsExactly("stop lost in 30", "forget lost");
        assertThat(node.runtime.pods()).isEmpty();
    }

    @Test
    void podThatTheServerHas_isNoOrphan() {
        node.start();
        Pod web = node.create(pod("web"));

        node.assigned.replace(List.of(new Fetched<>(web, "1", 0)), "9");

        assertThat(node.runtime.calls).containsExactly("start web/main");
    }

    @Test
    @ExpectedWarnings("stopping pod shop/lost")
    void orphanReappears_beforeItWasStopped_goesOn() {
        Pod orphan = running("lost");
        node.runtime.status(orphan);
        node.runtime.duringStop = () -> {
            node.runtime.duringStop = null;
            node.assigned.upsert(new Fetched<>(orphan, "1", 0));
        };

        node.start();
        node.settle();

        assertThat(node.known.get("u-lost")).isPresent();
        assertThat(node.runtime.pods()).containsExactly(PodReferences.key(orphan));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void orphanReappears_whileItIsFound_hasOneWorkerAndGoesOn(int step) {
        QueuedThreads threads = new QueuedThreads();
        try (WorkersFixture agent = new WorkersFixture(WorkersFixture.Options.DEFAULT.on(threads, 8))) {
            Pod orphan = running("lost");
            agent.runtime.status(orphan);

            agent.workers.put(foundAt(step, orphan, agent.workers));
            threads.runAll();

            assertThat(agent.runtime.calls).isEmpty();
            assertThat(agent.runtime.pods()).containsExactly(PodReferences.key(orphan));
        }
    }

    /** Returns a pod that is taken for an orphan when its metadata are read for the nth time. */
    private static Pod foundAt(int nth, Pod orphan, PodWorkers workers) {
        AtomicInteger reads = new AtomicInteger();
        return new Pod("v1", "Pod", orphan.getMetadata(), orphan.getSpec(), orphan.getStatus()) {
            @Override
            public ObjectMeta getMetadata() {
                if (reads.incrementAndGet() == nth) {
                    workers.endOrphan(orphan);
                }
                return super.getMetadata();
            }
        };
    }

    @Test
    void orphanIsFound_afterTheEnd_isNotStopped() {
        Pod orphan = running("lost");
        node.runtime.status(orphan);
        node.workers.close();

        node.workers.endOrphan(orphan);

        assertThat(node.runtime.calls).isEmpty();
    }

    @Test
    @ExpectedWarnings("the runtime did not list its pods; pods that were deleted meanwhile still run; retrying in 2 s")
    void runtimeDoesNotListItsPods_othersRun() {
        node.runtime.onPods = new IllegalStateException("busy");
        node.start();
        node.create(pod("web"));

        assertThat(node.status("web").getPhase()).isEqualTo("Running");
    }

    @Test
    @ExpectedWarnings({
        "the runtime did not list its pods; pods that were deleted meanwhile still run; retrying in 4 s:",
        "stopping pod shop/lost"
    })
    void runtimeDoesNotListItsPodsAtFirst_orphanIsStoppedOnceItDoes(NoLeaks leaks) {
        leaks.allowWarnings("retrying in 2 s");
        node.runtime.status(running("lost"));
        node.runtime.onPods = new IllegalStateException("busy");
        node.start();
        node.timekeeper.advance(Duration.ofSeconds(2));

        node.runtime.onPods = null;
        node.timekeeper.advance(Duration.ofSeconds(4));

        assertThat(node.runtime.calls).containsExactly("stop lost in 30", "forget lost");
    }

    @Test
    void runtimeDoesNotListItsPods_isAskedLessAndLess_untilTheEnd(NoLeaks leaks) {
        leaks.allowWarnings("the runtime did not list its pods");
        node.runtime.onPods = new IllegalStateException("busy");
        node.start();
        node.timekeeper.advance(Duration.ofMinutes(1));
        assertThat(node.runtime.listed()).isEqualTo(6);

        node.workers.close();
        node.timekeeper.advance(Duration.ofMinutes(5));

        assertThat(node.runtime.listed()).isEqualTo(6);
    }

    private static Pod running(String name) {
        return pod(name)
                .editMetadata()
                .withUid("u-" + name)
                .endMetadata()
                .withNewStatus()
                .addNewContainerStatus()
                .withName("main")
                .withContainerID("hollow://u-" + name + "/main")
                .withNewState()
                .withNewRunning("2026-01-01T00:00:00Z")
                .endState()
                .endContainerStatus()
                .endStatus()
                .build();
    }
}
