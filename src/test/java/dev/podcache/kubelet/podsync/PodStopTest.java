package dev.podcache.kubelet.podsync;

import static dev.podcache.kubelet.podsync.WorkersFixture.pod;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.podcache.testing.NewThread;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.Lifecycle;
import io.fabric8.kubernetes.api.model.LifecycleBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The order in which the containers of a pod are stopped. */
@Timeout(60)
@ExtendWith(NoLeaks.class)
class PodStopTest {

    private final CountedThreads threads = new CountedThreads();
    private final WorkersFixture node = new WorkersFixture(WorkersFixture.Options.DEFAULT.on(threads, 1));

    @AfterEach
    void tearDown() {
        node.close();
    }

    private static final Lifecycle DRAIN = new LifecycleBuilder()
            .withNewPreStop()
            .withNewExec()
            .withCommand("drain")
            .endExec()
            .endPreStop()
            .build();

    private static PodBuilder withSidecars(PodBuilder pod, String... names) {
        return pod.editSpec()
                .addAllToInitContainers(List.of(names).stream()
                        .map(name -> new ContainerBuilder()
                                .withName(name)
                                .withImage("proxy")
                                .withRestartPolicy("Always")
                                .build())
                        .toList())
                .endSpec();
    }

    private static PodBuilder withAnother(PodBuilder pod) {
        return pod.editSpec()
                .addNewContainer()
                .withName("other")
                .withImage("nginx")
                .endContainer()
                .endSpec();
    }

    private Pod run(PodBuilder pod) throws InterruptedException {
        node.start();
        Pod created = node.create(pod);
        runAll();
        node.runtime.calls.clear();
        return created;
    }

    private void runAll() throws InterruptedException {
        threads.awaitRunning(0);
        node.settle();
        threads.awaitRunning(0);
        node.settle();
    }

    @Test
    void withoutSidecars_oneCallStopsAll() throws Exception {
        Pod web = run(pod("web"));

        node.server.cluster().delete(web);
        runAll();

        assertThat(node.runtime.calls).containsExactly("stop web in 30", "forget web");
    }

    /** The API server accepts them. */
    @ParameterizedTest
    @ValueSource(longs = {9_300_000_000L, Long.MAX_VALUE})
    void gracePeriodOfCenturies_isAHundredYears(long seconds) throws Exception {
        Pod web = run(pod("web")
                .editSpec()
                .withTerminationGracePeriodSeconds(seconds)
                .withActiveDeadlineSeconds(seconds)
                .editFirstContainer()
                .withNewLifecycle()
                .withNewPreStop()
                .withNewExec()
                .addToCommand("true")
                .endExec()
                .endPreStop()
                .endLifecycle()
                .endContainer()
                .endSpec());
        assertThat(node.status("web").getPhase()).isEqualTo("Running");

        node.server.cluster().delete(web);
        runAll();

        long century = Duration.ofDays(36_500).toSeconds();
        assertThat(node.runtime.calls)
                .containsExactly(
                        "exec web/main true", "stop web/main in " + century, "stop web in " + century, "forget web");
    }

    /** No API server validates what another program writes into a static pod's file, or a webhook into a pod. */
    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -9_300_000_000L, -1, 0, 1, 9_300_000_000L, Long.MAX_VALUE})
    void extremeNumbers_podRunsOrFailsAndEnds(long seconds) throws Exception {
        Pod web = run(pod("web")
                .editSpec()
                .withActiveDeadlineSeconds(seconds)
                .withTerminationGracePeriodSeconds(seconds)
                .addNewToleration()
                .withOperator("Exists")
                .withTolerationSeconds(seconds)
                .endToleration()
                .endSpec());
        assertThat(node.status("web").getPhase()).isIn("Running", "Failed");

        node.server.cluster().delete(web);
        node.timekeeper.advance(Duration.ofSeconds(2));
        runAll();

        assertThat(node.runtime.calls).contains("forget web");
    }

    @Test
    void sidecars_stopAfterTheOthers_lastOneFirst() throws Exception {
        Pod web = run(withSidecars(pod("web"), "mesh", "logs"));

        node.server.cluster().delete(web);
        runAll();

        assertThat(node.runtime.calls)
                .containsExactly(
                        "stop web/main in 30",
                        "stop web/logs in 30",
                        "stop web/mesh in 30",
                        "stop web in 30",
                        "forget web");
    }

    @Test
    void containerTakesTime_sidecarsGetWhatIsLeft_andAtLeastTwoSeconds() throws Exception {
        Pod web = run(withSidecars(pod("web"), "mesh", "logs"));
        FlakyRuntime.Held main = node.runtime.hold("stop web/main");
        FlakyRuntime.Held logs = node.runtime.hold("stop web/logs");

        node.server.cluster().delete(web);
        main.awaitCall();
        node.timekeeper.advance(Duration.ofSeconds(10));
        main.release();
        logs.awaitCall();
        node.timekeeper.advance(Duration.ofSeconds(20));
        logs.release();
        runAll();

        assertThat(node.runtime.calls)
                .containsExactly(
                        "stop web/main in 30",
                        "stop web/logs in 20",
                        "stop web/mesh in 2",
                        "stop web in 2",
                        "forget web");
    }

    @Test
    void severalContainers_stopAtTheSameTime() throws Exception {
        Pod web = run(withSidecars(withAnother(pod("web")), "mesh"));
        FlakyRuntime.Held main = node.runtime.hold("stop web/main");
        FlakyRuntime.Held other = node.runtime.hold("stop web/other");

        node.server.cluster().delete(web);
        main.awaitCall();
        other.awaitCall();

        assertThat(node.runtime.calls).noneMatch(call -> call.startsWith("stop web/mesh"));
        main.release();
        other.release();
        runAll();
        assertThat(node.runtime.calls).contains("stop web/mesh in 30");
    }

    @Test
    void preStopOfASidecar_runsAtOnce_thoughItStopsLast() throws Exception {
        PodBuilder built = withSidecars(pod("web"), "mesh")
                .editSpec()
                .editInitContainer(0)
                .withLifecycle(DRAIN)
                .endInitContainer()
                .endSpec();
        Pod web = run(built);
        FlakyRuntime.Held main = node.runtime.hold("stop web/main");
        FlakyRuntime.Held drain = node.runtime.hold("exec web/mesh");

        node.server.cluster().delete(web);
        main.awaitCall();
        drain.awaitCall();
        drain.release();
        main.release();
        runAll();

        assertThat(node.runtime.calls)
                .containsSubsequence("exec web/mesh drain", "stop web/mesh in 30", "stop web in 30", "forget web");
    }

    @Test
    void gracePeriodIsShortened_stopsOfSingleContainersAreInterrupted() throws Exception {
        Pod web = run(withSidecars(pod("web"), "mesh"));
        FlakyRuntime.Held main = node.runtime.hold("stop web/main");
        node.server.cluster().delete(web);
        main.awaitCall();

        node.server.cluster().deleteNow(web);
        runAll();

        assertThat(node.runtime.calls).endsWith("stop web in 2", "forget web");
        assertThat(node.known.all()).isEmpty();
    }

    private PodStop podStop() {
        LifecycleHooks hooks =
                new LifecycleHooks(new RuntimeExec(node.runtime, node.threads), Optional.empty(), node.timekeeper);
        return new PodStop(node.parts, new RuntimeCalls(node.threads, node.timekeeper, (pod, call) -> {}), hooks);
    }

    @Test
    void oneStopFails_othersKeepTheirGracePeriod_andTheFailureIsThatOfTheRuntime() throws Exception {
        Pod web = run(withSidecars(withAnother(pod("web")), "mesh"));
        FlakyRuntime.Held other = node.runtime.hold("stop web/other");
        node.runtime.failsToStop = "main";

        CompletableFuture<Throwable> failure = CompletableFuture.supplyAsync(
                () -> catchThrowable(() -> podStop().stop(web, node.runtime.status(web), Duration.ofSeconds(30))),
                NewThread.EACH);
        other.awaitCall();
        other.release();

        assertThat(failure.join()).isInstanceOf(IOException.class).hasMessage("main is busy");
        assertThat(node.runtime.status(web).containers())
                .filteredOn(status -> status.getName().equals("other"))
                .allMatch(States::isTerminated);
        assertThat(node.runtime.calls).noneMatch(call -> call.startsWith("stop web/mesh"));
    }

    @Test
    void severalStopsFail_firstFailureShowsTheOthers() throws Exception {
        Pod web = run(withSidecars(withAnother(pod("web")), "mesh"));
        node.runtime.onStop = new IllegalStateException("busy");

        assertThatThrownBy(() -> podStop().stop(web, node.runtime.status(web), Duration.ofSeconds(1)))
                .isInstanceOf(IOException.class)
                .hasMessage("busy")
                .satisfies(first -> assertThat(first.getSuppressed()).hasSize(1));
        node.runtime.onStop = null;
    }
}
