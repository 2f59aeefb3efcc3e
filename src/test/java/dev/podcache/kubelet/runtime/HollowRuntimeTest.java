package dev.podcache.kubelet.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.google.common.collect.ImmutableMap;
import dev.podcache.kubelet.podsync.WorkersFixture;
import dev.podcache.pod.PodReferences;
import dev.podcache.testing.ManualTimekeeper;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HollowRuntimeTest {

    private static final Launch LAUNCH = launch(ImmutableMap.of());

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final HollowRuntime runtime = new HollowRuntime(timekeeper);
    private final Pod pod = WorkersFixture.pod("web")
            .editMetadata()
            .withUid("u1")
            .endMetadata()
            .editSpec()
            .addNewInitContainer()
            .withName("init")
            .endInitContainer()
            .endSpec()
            .build();

    private static Launch launch(ImmutableMap<String, String> environment) {
        return new Launch(List.of(), List.of(), "", environment, List.of(), List.of(), 0);
    }

    private void startMain() {
        runtime.startContainer(pod, pod.getSpec().getContainers().get(0), LAUNCH);
    }

    @Test
    void start_runsSinceNowAndIsReady() {
        startMain();

        ContainerStatus main = runtime.status(pod).containers().get(0);
        assertThat(main.getState().getRunning().getStartedAt()).isEqualTo("2026-01-01T00:00:00Z");
        assertThat(main.getReady()).isTrue();
        assertThat(main.getContainerID()).isEqualTo("hollow://u1/main");
    }

    @Test
    void startInitContainer_hasSucceeded() {
        runtime.startContainer(pod, pod.getSpec().getInitContainers().get(0), LAUNCH);

        ContainerStatus init = runtime.status(pod).initContainers().get(0);
        assertThat(init.getState().getTerminated().getExitCode()).isZero();
    }

    @Test
    void stop_endsWhatRunsAndKeepsWhenItBegan() {
        startMain();
        timekeeper.advance(Duration.ofSeconds(5));

        runtime.stopPod(PodReferences.key(pod), Duration.ZERO);

        var ended = runtime.status(pod).containers().get(0).getState().getTerminated();
        assertThat(ended.getStartedAt()).isEqualTo("2026-01-01T00:00:00Z");
        assertThat(ended.getFinishedAt()).isEqualTo("2026-01-01T00:00:05Z");
    }

    @Test
    void podOfAnEarlierProcess_isRememberedFromItsStatus() {
        startMain();
        ContainerStatus main = runtime.status(pod).containers().get(0);
        Pod reported = new PodBuilder(pod)
                .withNewStatus()
                .withContainerStatuses(main)
                .endStatus()
                .build();

        // whether it is ready is the affair of its probes
        ContainerStatus remembered = new ContainerStatusBuilder(main)
                .withReady(null)
                .withStarted(null)
                .build();
        assertThat(new HollowRuntime(timekeeper).status(reported).containers()).containsExactly(remembered);
    }

    @Test
    void containerThatWaited_isNotRemembered() {
        Pod reported = new PodBuilder(pod)
                .withNewStatus()
                .addNewContainerStatus()
                .withName("main")
                .withNewState()
                .withNewWaiting("secret \"db\" not found", "CreateContainerConfigError")
                .endState()
                .endContainerStatus()
                .endStatus()
                .build();

        assertThat(runtime.status(reported)).isEqualTo(PodState.NONE);
    }

    @Test
    void launch_asText_showsNoValue() {
        Launch launch = launch(ImmutableMap.of("PASSWORD", "s3cret"));

        assertThat(launch).hasToString("Launch[1 variables, 0 pull secrets]");
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 256})
    void stage_exitCodeThatNoProcessHas_isRefused(int exitCode) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new HollowStage(Map.of(), Duration.ZERO, Duration.ZERO, exitCode))
                .withMessage("exitCode must be from 0 to 255, but is " + exitCode);
    }
}
