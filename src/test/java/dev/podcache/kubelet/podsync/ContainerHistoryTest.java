package dev.podcache.kubelet.podsync;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.kubelet.runtime.PodState;
import dev.podcache.object.PodKey;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStateTerminated;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.PodStatusBuilder;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ContainerHistoryTest {

    private static final String NOW = "2026-01-01T01:00:00Z";

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
    private boolean started = true;
    private boolean ready = true;

    private final class Probed implements ContainerHealth {
        @Override
        public void observe(Pod observed, PodState state) {}

        @Override
        public boolean isStarted(PodKey key, Container container, String containerId) {
            return started;
        }

        @Override
        public boolean isReady(PodKey key, Container container, String containerId) {
            return ready;
        }

        @Override
        public void ending(PodKey pod) {}

        @Override
        public void ended(PodKey key) {}

        @Override
        public Optional<Unhealthy> unhealthy(PodKey key, Container container, String containerId) {
            return Optional.empty();
        }
    }

    private static ContainerStatusBuilder status(String id) {
        return new ContainerStatusBuilder().withName("main").withContainerID(id);
    }

    private static ContainerStatus running(String id) {
        return status(id)
                .withNewState()
                .withNewRunning("2026-01-01T00:00:00Z")
                .endState()
                .build();
    }

    private static ContainerStatus exited(String id, int code) {
        return status(id)
                .withNewState()
                .withNewTerminated()
                .withContainerID(id)
                .withExitCode(code)
                .endTerminated()
                .endState()
                .build();
    }

    /** A container that ended and waits for its restart, as it is reported. */
    private static ContainerStatus crashLooping(String id, int restarts) {
        return new ContainerStatusBuilder(exited(id, 1))
                .withRestartCount(restarts)
                .withLastState(exited(id, 1).getState())
                .withNewState()
                .withNewWaiting("", "CrashLoopBackOff")
                .endState()
                .build();
    }

    private static ContainerStatus withRestarts(ContainerStatus status, int restarts) {
        return new ContainerStatusBuilder(status).withRestartCount(restarts).build();
    }

    private PodState complete(@Nullable ContainerStatus shown, @Nullable ContainerStatus before) {
        PodStatus reported = new PodStatusBuilder()
                .withContainerStatuses(before == null ? List.of() : List.of(before))
                .build();
        ContainerHistory history = new ContainerHistory(pod, new Probed(), NOW);
        PodState complete = history.complete(
                PodState.of(List.of(), shown == null ? List.of() : List.of(shown), List.of()), reported);
        return history.withHealth(complete);
    }

    private static ContainerStatus exited(String id, String finishedAt) {
        return new ContainerStatusBuilder(exited(id, 1))
                .editState()
                .editTerminated()
                .withFinishedAt(finishedAt)
                .endTerminated()
                .endState()
                .build();
    }

    @Test
    void endWithoutATime_hasTheTimeWhenItIsFirstSeen() {
        ContainerStatus shown = status("id://1")
                .withNewState()
                .withNewTerminated()
                .withExitCode(1)
                .endTerminated()
                .endState()
                .build();

        ContainerStateTerminated end = main(shown, running("id://1")).getState().getTerminated();

        assertThat(end.getFinishedAt()).isEqualTo(NOW);
        assertThat(end.getContainerID()).isEqualTo("id://1");
        assertThat(shown.getState().getTerminated().getFinishedAt()).isNull();
    }

    @Test
    void endWithoutATime_wasReported_keepsTheReportedTime() {
        ContainerStatus before = exited("id://1", "2026-01-01T00:30:00Z");
        ContainerStatus waiting = new ContainerStatusBuilder(before)
                .withLastState(before.getState())
                .withNewState()
                .withNewWaiting("", "CrashLoopBackOff")
                .endState()
                .build();

        assertThat(finishedAt(exited("id://1", 1), before)).isEqualTo("2026-01-01T00:30:00Z");
        assertThat(finishedAt(exited("id://1", 1), waiting)).isEqualTo("2026-01-01T00:30:00Z");
        assertThat(finishedAt(null, before)).isEqualTo("2026-01-01T00:30:00Z");
        assertThat(finishedAt(exited("id://2", 1), before)).isEqualTo(NOW);
    }

    @Test
    void endWithATime_keepsIt_unlessItIsInvalid() {
        assertThat(finishedAt(exited("id://1", "2026-01-01T00:30:00Z"), null)).isEqualTo("2026-01-01T00:30:00Z");
        assertThat(finishedAt(exited("id://1", "yesterday"), null)).isEqualTo(NOW);
    }

    @Test
    void endInTheFuture_hasTheTimeWhenItIsFirstSeen() {
        ContainerStatus ahead = exited("id://1", "2026-01-01T02:00:00Z");

        assertThat(finishedAt(ahead, null)).isEqualTo(NOW);
        assertThat(finishedAt(ahead, ahead)).isEqualTo(NOW);
        assertThat(finishedAt(ahead, exited("id://1", "2026-01-01T00:30:00Z"))).isEqualTo("2026-01-01T00:30:00Z");
        assertThat(finishedAt(exited("id://1", "2026-01-01T01:00:00.7Z"), null)).isEqualTo("2026-01-01T01:00:00.7Z");
    }

    private static ContainerStatus running(String id, @Nullable String startedAt) {
        return status(id).withNewState().withNewRunning(startedAt).endState().build();
    }

    private @Nullable String startedAt(ContainerStatus shown, @Nullable ContainerStatus before) {
        return main(shown, before).getState().getRunning().getStartedAt();
    }

    @Test
    void startWithoutATime_hasTheTimeWhenItIsFirstSeen() {
        assertThat(startedAt(running("id://1", null), null)).isEqualTo(NOW);
        assertThat(startedAt(running("id://1", "2026-01-01T10:00:00"), null)).isEqualTo(NOW);
        assertThat(startedAt(running("id://1", null), running("id://1"))).isEqualTo("2026-01-01T00:00:00Z");
        assertThat(startedAt(running("id://2", null), running("id://1"))).isEqualTo(NOW);
        assertThat(startedAt(running("id://1"), running("id://1", NOW))).isEqualTo("2026-01-01T00:00:00Z");
    }

    private String finishedAt(@Nullable ContainerStatus shown, @Nullable ContainerStatus before) {
        return main(shown, before).getState().getTerminated().getFinishedAt();
    }

    private ContainerStatus main(@Nullable ContainerStatus shown, @Nullable ContainerStatus before) {
        return complete(shown, before).containers().get(0);
    }

    @Test
    void neverStarted_hasNoStatus() {
        assertThat(complete(null, null).containers()).isEmpty();
    }

    @Test
    void waitedForItsFirstStart_hasNoStatus() {
        ContainerStatus waited = status("")
                .withNewState()
                .withNewWaiting("", "ContainerCreating")
                .endState()
                .build();

        assertThat(complete(null, waited).containers()).isEmpty();
    }

    @Test
    void firstInstance_isCompletedFromTheSpec() {
        ContainerStatus main = main(running("a"), null);

        assertThat(main.getRestartCount()).isZero();
        assertThat(main.getImage()).isEqualTo("nginx");
        assertThat(main.getImageID()).isEmpty();
        assertThat(main.getReady()).isTrue();
        assertThat(main.getStarted()).isTrue();
    }

    @Test
    void sameInstance_keepsItsRestartCountAndLastState() {
        ContainerStatus before = new ContainerStatusBuilder(running("b"))
                .withRestartCount(3)
                .withLastState(exited("a", 1).getState())
                .build();

        ContainerStatus main = main(running("b"), before);

        assertThat(main.getRestartCount()).isEqualTo(3);
        assertThat(main.getLastState().getTerminated().getContainerID()).isEqualTo("a");
    }

    @Test
    void otherInstance_countsARestart_andShowsHowTheFormerEnded() {
        ContainerStatus main = main(running("b"), withRestarts(exited("a", 7), 3));

        assertThat(main.getRestartCount()).isEqualTo(4);
        assertThat(main.getLastState().getTerminated().getExitCode()).isEqualTo(7);
    }

    @Test
    void otherInstance_afterCrashLoopBackOff_countsARestart() {
        ContainerStatus main = main(running("b"), crashLooping("a", 3));

        assertThat(main.getRestartCount()).isEqualTo(4);
        assertThat(main.getLastState().getTerminated().getContainerID()).isEqualTo("a");
    }

    @Test
    void crashLooping_sameEndIsShownAgain_isNotItsOwnLastState() {
        ContainerStatus main = main(exited("a", 1), crashLooping("a", 3));

        assertThat(main.getRestartCount()).isEqualTo(3);
        assertThat(States.lastTermination(main)).isNull();
    }

    @Test
    void runtimeCountsMore_itsCountIsKept() {
        assertThat(main(withRestarts(running("b"), 9), withRestarts(running("b"), 3))
                        .getRestartCount())
                .isEqualTo(9);
    }

    @Test
    void runtimeCountsLess_theReportedCountIsKept() {
        assertThat(main(withRestarts(running("b"), 0), withRestarts(running("b"), 3))
                        .getRestartCount())
                .isEqualTo(3);
    }

    @Test
    void withoutContainerIds_runningAfterAnEnd_isAnotherInstance() {
        assertThat(main(running(""), withRestarts(exited("", 1), 1)).getRestartCount())
                .isEqualTo(2);
        assertThat(main(running(""), withRestarts(running(""), 1)).getRestartCount())
                .isEqualTo(1);
    }

    @Test
    void forgottenWhileItRan_hasTerminatedWith137() {
        ContainerStatus main = main(null, withRestarts(running("a"), 2));

        ContainerStateTerminated end = main.getState().getTerminated();
        assertThat(end.getExitCode()).isEqualTo(137);
        assertThat(end.getReason()).isEqualTo("ContainerStatusUnknown");
        assertThat(end.getStartedAt()).isEqualTo("2026-01-01T00:00:00Z");
        assertThat(end.getFinishedAt()).isEqualTo(NOW);
        assertThat(main.getRestartCount()).isEqualTo(2);
        assertThat(main.getReady()).isFalse();
        assertThat(main.getStarted()).isFalse();
    }

    @Test
    void forgottenAfterItEnded_keepsItsEnd() {
        assertThat(main(null, exited("a", 7)).getState().getTerminated().getExitCode())
                .isEqualTo(7);
    }

    @Test
    void forgottenWhileItBackedOff_keepsItsEnd() {
        ContainerStatus main = main(null, crashLooping("a", 3));

        assertThat(main.getState().getTerminated().getContainerID()).isEqualTo("a");
        assertThat(main.getRestartCount()).isEqualTo(3);
        assertThat(States.lastTermination(main)).isNull();
    }

    @Test
    void probesSayNotReady_isNotReady() {
        ready = false;

        assertThat(main(running("a"), null).getReady()).isFalse();
        assertThat(main(running("a"), null).getStarted()).isTrue();
    }

    @Test
    void probesSayNotStarted_isNeitherStartedNorReady() {
        started = false;

        assertThat(main(running("a"), null).getReady()).isFalse();
        assertThat(main(running("a"), null).getStarted()).isFalse();
    }

    @Test
    void runtimeSaysNotReady_isNotReady() {
        ContainerStatus shown =
                new ContainerStatusBuilder(running("a")).withReady(false).build();

        assertThat(main(shown, null).getReady()).isFalse();
    }

    @Test
    void initContainerHasSucceeded_isReady() {
        ContainerStatus init =
                new ContainerStatusBuilder(exited("i", 0)).withName("init").build();
        ContainerHistory history = new ContainerHistory(pod, new Probed(), NOW);

        PodState state = history.withHealth(history.complete(PodState.of(List.of(init), List.of(), List.of()), null));

        assertThat(state.initContainers().get(0).getReady()).isTrue();
    }

    @Test
    void runtimeLeavesOutTheImage_itIsThatOfTheStart() {
        ContainerStatus before =
                new ContainerStatusBuilder(running("a")).withImage("nginx:1").build();

        assertThat(main(running("a"), before).getImage()).isEqualTo("nginx:1");
        assertThat(main(running("b"), before).getImage()).isEqualTo("nginx");
    }

    @Test
    void containerOfAnotherSpec_isLeftOut() {
        ContainerStatus other =
                new ContainerStatusBuilder(running("x")).withName("debug").build();

        assertThat(complete(other, null).containers()).isEmpty();
    }
}
