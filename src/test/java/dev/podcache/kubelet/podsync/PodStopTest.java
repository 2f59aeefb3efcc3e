package dev.podcache.kubelet.podsync;

import static dev.podcache.kubelet.podsync.WorkersFixture.pod;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.Lifecycle;
import io.fabric8.kubernetes.api.model.LifecycleBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

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
        Pod web = run(withSidecars(
                pod("web")
                        .editSpec()
                        .addNewContainer()
                        .withName("other")
                        .withImage("nginx")
                        .endContainer()
                        .endSpec(),
                "mesh"));
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

    @Test
    void oneStopFails_othersAreInterrupted_andTheFailureIsThatOfTheRuntime() throws Exception {
        LifecycleHooks hooks = new LifecycleHooks(
                new RuntimeExec(node.runtime, node.threads), java.util.Optional.empty(), node.timekeeper);
        RuntimeCalls calls = new RuntimeCalls(node.threads, node.timekeeper, (pod, call) -> {});
        PodStop stop = new PodStop(node.parts, calls, hooks);
        Pod web = run(withSidecars(pod("web"), "mesh"));
        node.runtime.onStop = new IllegalStateException("busy");

        assertThatThrownBy(() -> stop.stop(web, node.runtime.status(web), Duration.ofSeconds(1)))
                .isInstanceOf(IOException.class)
                .hasMessage("busy");
        node.runtime.onStop = null;
    }
}
