package dev.podcache.kubelet.podsync;

import static dev.podcache.kubelet.podsync.WorkersFixture.pod;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.kubelet.runtime.HollowRuntime;
import dev.podcache.kubelet.runtime.HollowStage;
import dev.podcache.pod.PodReferences;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which containers are started again, from their end to the status at the server. */
@ExtendWith(NoLeaks.class)
class RestartedContainersTest {

    private static final Duration RUNS = Duration.ofSeconds(2);

    private static WorkersFixture nodeWhoseContainersExitWith(int exitCode) {
        HollowStage stage = new HollowStage(Map.of(), Duration.ZERO, RUNS, exitCode);
        return new WorkersFixture(WorkersFixture.Options.DEFAULT.with(stage));
    }

    private static PodBuilder withPolicies(String ofThePod, String own, Integer... restartedCodes) {
        PodBuilder pod = pod("job").editSpec().withRestartPolicy(ofThePod).endSpec();
        return pod.editSpec()
                .editFirstContainer()
                .withRestartPolicy(own)
                .addNewRestartPolicyRule()
                .withAction("Restart")
                .withNewExitCodes()
                .withOperator("In")
                .withValues(restartedCodes)
                .endExitCodes()
                .endRestartPolicyRule()
                .endContainer()
                .endSpec();
    }

    @Test
    void jobWhoseContainerHasARule_isRestarted_andNotFailed() {
        try (WorkersFixture node = nodeWhoseContainersExitWith(42)) {
            node.start();
            node.create(withPolicies("Never", "Never", 42));
            node.timekeeper.advance(RUNS);
            node.settle();

            assertThat(node.status("job").getPhase()).isEqualTo("Running");
            assertThat(node.container("job", "main").getRestartCount()).isEqualTo(1);
            assertThat(node.container("job", "main").getState().getRunning()).isNotNull();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "Never, Never, 7, Failed",
        "Always, Never, 7, Failed",
        "Always, Never, 0, Succeeded",
        "Never, OnFailure, 0, Succeeded"
    })
    void containerThatIsNotRestarted_endsThePod(String ofThePod, String own, int exitCode, String phase) {
        try (WorkersFixture node = nodeWhoseContainersExitWith(exitCode)) {
            node.start();
            node.create(withPolicies(ofThePod, own, 42));
            node.timekeeper.advance(RUNS);
            node.settle();

            assertThat(node.status("job").getPhase()).isEqualTo(phase);
            assertThat(node.runtime.calls)
                    .filteredOn(call -> call.startsWith("start"))
                    .hasSize(1);
        }
    }

    /** Such a pod has not ended. */
    @Test
    void addresses_ofAPodWithNothingButAnEphemeralContainer_areThoseOfTheRuntime() {
        ManualTimekeeper timekeeper = new ManualTimekeeper();
        HollowRuntime runtime = new HollowRuntime(timekeeper, List.of(), pod -> List.of("10.0.0.7"));
        try (WorkersFixture node = new WorkersFixture(WorkersFixture.Options.DEFAULT, timekeeper, runtime)) {
            node.start();
            node.create(WorkersFixture.withEnvFrom(pod("web"), "db")
                    .editSpec()
                    .addNewEphemeralContainer()
                    .withName("debug")
                    .endEphemeralContainer()
                    .endSpec());
            assertThat(node.status("web").getPodIP()).isEqualTo("10.0.0.7");

            node.runtime.hidesIps = true;
            timekeeper.advance(Duration.ofMinutes(3));

            assertThat(node.status("web").getPodIPs()).isEmpty();
        }
    }

    @Test
    void addresses_areKept_whenThePodHasEnded() throws Exception {
        ManualTimekeeper timekeeper = new ManualTimekeeper();
        HollowRuntime runtime = new HollowRuntime(timekeeper, List.of(), pod -> List.of("10.0.0.7"));
        try (WorkersFixture node = new WorkersFixture(WorkersFixture.Options.DEFAULT, timekeeper, runtime)) {
            node.start();
            Pod job =
                    node.create(pod("job").editSpec().withRestartPolicy("Never").endSpec());
            assertThat(node.status("job").getPodIP()).isEqualTo("10.0.0.7");

            node.runtime.hidesIps = true;
            node.runtime.stopPod(PodReferences.key(job), Duration.ZERO);
            node.workers.changed(job.getMetadata().getUid());
            node.settle();

            assertThat(node.status("job").getPhase()).isEqualTo("Succeeded");
            assertThat(node.status("job").getPodIP()).isEqualTo("10.0.0.7");
            assertThat(node.status("job").getPodIPs()).hasSize(1);
        }
    }

    private static PodBuilder withInit(PodBuilder pod, String... names) {
        for (String name : names) {
            pod.editSpec()
                    .addToInitContainers(new ContainerBuilder()
                            .withName(name)
                            .withImage("busybox")
                            .build())
                    .endSpec();
        }
        return pod;
    }

    @ParameterizedTest
    @CsvSource({"Always", "OnFailure"})
    void runtimeHasLostThePod_initContainersRunAgainFirst_countsAndEndsAreKept(String policy) {
        try (WorkersFixture node = new WorkersFixture()) {
            node.start();
            node.create(withInit(pod("web"), "i1", "i2")
                    .editSpec()
                    .withRestartPolicy(policy)
                    .endSpec());
            assertThat(node.status("web").getPhase()).isEqualTo("Running");
            node.stop();

            try (WorkersFixture next = node.successor()) {
                next.runtime.forgetsAll = true;
                next.start();
                next.settle();

                assertThat(next.runtime.calls).containsExactly("start web/i1", "start web/i2", "start web/main");
                assertThat(next.status("web").getPhase()).isEqualTo("Running");
                ContainerStatus init =
                        next.status("web").getInitContainerStatuses().get(0);
                assertThat(init.getRestartCount()).isEqualTo(1);
                assertThat(init.getState().getTerminated().getExitCode()).isZero();
                assertThat(init.getLastState().getTerminated().getExitCode()).isZero();
                assertThat(next.container("web", "main").getRestartCount()).isEqualTo(1);
                assertThat(next.container("web", "main")
                                .getLastState()
                                .getTerminated()
                                .getExitCode())
                        .isEqualTo(137);
            }
        }
    }

    @Test
    void runtimeHasLostAPodThatIsNeverRestarted_podHasFailed_andNothingRunsAgain() {
        try (WorkersFixture node = new WorkersFixture()) {
            node.start();
            node.create(withInit(pod("job"), "i1")
                    .editSpec()
                    .withRestartPolicy("Never")
                    .endSpec());
            node.stop();

            try (WorkersFixture next = node.successor()) {
                next.runtime.forgetsAll = true;
                next.start();
                next.settle();

                assertThat(next.runtime.calls).isEmpty();
                assertThat(next.status("job").getPhase()).isEqualTo("Failed");
            }
        }
    }

    @Test
    @ExpectedWarnings("runtime failed to start container i2 of pod shop/web")
    void secondAgentRestart_whileInitContainersRunAgain_goesOnWhereTheRuntimeIs() {
        try (WorkersFixture node = new WorkersFixture()) {
            node.start();
            node.create(withInit(pod("web"), "i1", "i2"));
            node.stop();

            try (WorkersFixture next = node.successor()) {
                next.runtime.forgetsAll = true;
                next.runtime.failsToStart = "i2";
                next.start();
                next.settle();
                assertThat(next.runtime.calls).containsExactly("start web/i1", "start web/i2");
                next.stop();

                try (WorkersFixture last = next.successorWithThisRuntime()) {
                    last.runtime.calls.clear();
                    last.runtime.failsToStart = null;
                    last.start();
                    last.settle();

                    assertThat(last.runtime.calls).containsExactly("start web/i2", "start web/main");
                }
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"false, false", "true, false", "true, true"})
    void agentRestarts_runtimeShowsResolvedImages_containersGoOn(boolean hidesHashes, boolean changedMeanwhile) {
        try (WorkersFixture node = new WorkersFixture()) {
            node.runtime.imagePrefix = "docker.io/library/";
            node.runtime.hidesHashes = hidesHashes;
            node.start();
            node.create(pod("web"));
            node.stop();
            if (changedMeanwhile) {
                changeImage(node, "nginx:2");
            }

            try (WorkersFixture next = node.successorWithThisRuntime()) {
                next.start();
                next.timekeeper.advance(WorkersFixture.SYNC.multipliedBy(2));
                next.settle();
                // without a hash, never for the image
                assertThat(next.runtime.calls).containsExactly("start web/main");

                changeImage(next, "nginx:3");
                assertThat(next.runtime.calls)
                        .containsExactly("start web/main", "stop web/main in 30", "start web/main");
            }
        }
    }

    @Test
    void agentRestarts_runtimeGivesBackTheHash_containerWhoseImageChangedMeanwhileIsRestarted() {
        try (WorkersFixture node = new WorkersFixture()) {
            node.start();
            node.create(pod("web"));
            node.stop();
            changeImage(node, "nginx:2");

            try (WorkersFixture next = node.successor()) {
                next.runtime.imagePrefix = "docker.io/library/";
                next.start();
                next.settle();

                assertThat(next.runtime.calls).containsExactly("stop web/main in 30", "start web/main");
            }
        }
    }

    private static void changeImage(WorkersFixture node, String image) {
        node.server
                .cluster()
                .update(new PodBuilder(node.server.cluster().get(Pod.class, "shop", "web"))
                        .editSpec()
                        .editFirstContainer()
                        .withImage(image)
                        .endContainer()
                        .endSpec()
                        .build());
        node.settle();
    }
}
