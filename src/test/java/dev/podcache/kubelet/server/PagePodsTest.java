package dev.podcache.kubelet.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.Pods;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateBuilder;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the page says of a pod: as {@code kubectl get pods} would, and how bad it is. */
class PagePodsTest {

    private static final Instant NOW = Instant.parse("2026-07-01T12:00:00Z");
    private static final Duration LONG = Duration.ofHours(1);

    private static Pod pod(@Nullable String phase, Duration age, ContainerStatus... containers) {
        return new PodBuilder(Pods.assigned("worker-1", "web").build())
                .editMetadata()
                .withUid("uid-web")
                .withCreationTimestamp(NOW.minus(age).toString())
                .endMetadata()
                .withNewStatus()
                .withPhase(phase)
                .withContainerStatuses(containers)
                .endStatus()
                .build();
    }

    private static ContainerStatus container(boolean ready, ContainerState state, @Nullable ContainerState last) {
        return new ContainerStatusBuilder()
                .withName("main")
                .withReady(ready)
                .withState(state)
                .withLastState(last)
                .build();
    }

    private static ContainerState running() {
        return new ContainerStateBuilder().withNewRunning().endRunning().build();
    }

    private static ContainerState waiting(String reason) {
        return new ContainerStateBuilder().withNewWaiting("a message", reason).build();
    }

    private static ContainerState ended(int exitCode, Duration ago) {
        return new ContainerStateBuilder()
                .withNewTerminated()
                .withExitCode(exitCode)
                .withMessage("no database")
                .withFinishedAt(NOW.minus(ago).toString())
                .endTerminated()
                .build();
    }

    private static List<Object> shown(Pod pod) {
        Map<String, Object> fields = new PagePods(List.of(), NOW).fields(pod);
        return List.of(fields.get("severity"), fields.get("status"), fields.get("waitsFor"));
    }

    @Test
    void running_ready_isGood() {
        assertThat(shown(pod("Running", LONG, container(true, running(), null))))
                .containsExactly("good", "Running", "");
    }

    @Test
    void crashing_isBad_alsoWhileItRunsForAMoment() {
        ContainerState crash = ended(1, Duration.ofSeconds(20));

        assertThat(shown(pod("Running", LONG, container(false, waiting("CrashLoopBackOff"), crash))))
                .containsExactly(
                        "bad",
                        "CrashLoopBackOff",
                        "container main ended with exit code 1: no database; CrashLoopBackOff: a message");
        assertThat(shown(pod("Running", LONG, container(true, running(), crash))))
                .containsExactly("warn", "Restarted", "container main ended with exit code 1: no database");
    }

    @Test
    void restarted_longAgoOrAfterSuccess_isGood() {
        assertThat(shown(pod("Running", LONG, container(true, running(), ended(1, LONG)))))
                .containsExactly("good", "Running", "");
        assertThat(shown(pod("Running", LONG, container(true, running(), ended(0, Duration.ZERO)))))
                .containsExactly("good", "Running", "");
    }

    @Test
    void unready_saysWhichContainer_onceItHadTimeToStart() {
        assertThat(shown(pod("Running", LONG, container(false, running(), null))))
                .containsExactly("warn", "Not ready", "container main is not ready");
        assertThat(shown(pod("Running", Duration.ofSeconds(5), container(false, running(), null))))
                .containsExactly("none", "Not ready", "container main is not ready");
    }

    @ParameterizedTest
    @CsvSource({
        "Pending, ContainerCreating, 5, none, Pending",
        "Pending, PodInitializing, 3600, warn, Pending",
        "Pending, ErrImagePull, 5, bad, ErrImagePull",
        "Pending, CreateContainerConfigError, 5, bad, CreateContainerConfigError"
    })
    void waiting_reasonAndAge_decide(String phase, String reason, long age, String severity, String status) {
        assertThat(shown(pod(phase, Duration.ofSeconds(age), container(false, waiting(reason), null))))
                .startsWith(severity, status);
    }

    @Test
    void ended_failureIsBadWithItsReason_successIsGood() {
        Pod evicted = new PodBuilder(pod("Failed", LONG))
                .editStatus()
                .withReason("Evicted")
                .withMessage("The node was low on memory")
                .endStatus()
                .build();

        assertThat(shown(evicted)).containsExactly("bad", "Evicted", "Evicted: The node was low on memory");
        assertThat(shown(pod("Failed", LONG, container(false, ended(3, LONG), null))))
                .containsExactly("bad", "Failed", "container main ended with exit code 3: no database");
        assertThat(shown(pod("Succeeded", LONG, container(false, ended(0, LONG), null))))
                .containsExactly("good", "Succeeded", "");
    }

    @Test
    void noStatus_orBeingDeleted_isOnItsWay() {
        assertThat(shown(pod(null, Duration.ZERO))).startsWith("none", "No status");
        Pod deleted = new PodBuilder(pod("Running", LONG, container(false, running(), null)))
                .editMetadata()
                .withDeletionTimestamp(NOW.toString())
                .endMetadata()
                .build();

        assertThat(shown(deleted)).startsWith("none", "Deleting");
    }
}
