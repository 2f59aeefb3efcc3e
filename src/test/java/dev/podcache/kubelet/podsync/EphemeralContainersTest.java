package dev.podcache.kubelet.podsync;

import static dev.podcache.kubelet.podsync.WorkersFixture.pod;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.kubelet.eviction.PodRejection;
import dev.podcache.kubelet.podsync.WorkersFixture.Options;
import dev.podcache.pod.PodReferences;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.EphemeralContainer;
import io.fabric8.kubernetes.api.model.EphemeralContainerBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodCondition;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Containers that are added to a pod while it runs. */
@ExtendWith(NoLeaks.class)
class EphemeralContainersTest {

    private final WorkersFixture node = new WorkersFixture(Options.DEFAULT).start();

    @AfterEach
    void tearDown() {
        node.close();
    }

    private static EphemeralContainerBuilder debugger(String name) {
        return new EphemeralContainerBuilder().withName(name).withImage("busybox");
    }

    private static PodBuilder withoutItsSecret() {
        return WorkersFixture.withEnvFrom(pod("web"), "db");
    }

    private void debug(String pod, EphemeralContainer added) {
        Pod stored = node.server.cluster().get(Pod.class, "shop", pod);
        node.server
                .cluster()
                .update(new PodBuilder(stored)
                        .editSpec()
                        .addToEphemeralContainers(added)
                        .endSpec()
                        .build());
        node.settle();
    }

    private ContainerStatus debugger(String pod, String name) {
        return node.status(pod).getEphemeralContainerStatuses().stream()
                .filter(each -> each.getName().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private String ready(String pod) {
        return node.status(pod).getConditions().stream()
                .filter(each -> each.getType().equals("Ready"))
                .map(PodCondition::getStatus)
                .findFirst()
                .orElse("absent");
    }

    @Test
    void added_isStartedAndReported_apartFromTheOthers() {
        node.create(pod("web"));

        debug("web", debugger("debug").build());

        ContainerStatus status = debugger("web", "debug");
        assertThat(status.getState().getRunning()).isNotNull();
        assertThat(status.getReady()).isFalse();
        assertThat(status.getStarted()).isNull();
        assertThat(status.getRestartCount()).isZero();
        assertThat(node.status("web").getContainerStatuses()).hasSize(1);
        assertThat(ready("web")).isEqualTo("True");
        assertThat(node.runtime.calls).containsExactly("start web/main", "start web/debug");
        assertThat(node.events.lines()).contains("Normal Started Container started");
    }

    @Test
    void ends_isNotStartedAgain_whateverThePolicy() throws Exception {
        Pod created = node.create(pod("web"));
        debug("web", debugger("debug").build());

        node.runtime.runtime.stopContainer(PodReferences.key(created), "debug", Duration.ZERO);
        node.timekeeper.advance(Duration.ofMinutes(10));

        assertThat(debugger("web", "debug").getState().getTerminated().getExitCode())
                .isZero();
        assertThat(node.status("web").getPhase()).isEqualTo("Running");
        assertThat(ready("web")).isEqualTo("True");
        assertThat(node.runtime.calls).containsOnlyOnce("start web/debug");
    }

    @Test
    void runtimeHasForgottenIt_hasEndedForAnUnknownReason_andIsNotStartedAgain() {
        node.create(pod("web"));
        debug("web", debugger("debug").build());

        node.runtime.forgetsAll = true;
        node.timekeeper.advance(Duration.ofMinutes(10));

        assertThat(debugger("web", "debug").getState().getTerminated().getReason())
                .isEqualTo("ContainerStatusUnknown");
        assertThat(node.runtime.calls).containsOnlyOnce("start web/debug").contains("start web/main");
        assertThat(node.container("web", "main").getRestartCount()).isEqualTo(1);
    }

    @Test
    void nextAgent_goesOnWithIt() {
        node.create(pod("web"));
        debug("web", debugger("debug").build());

        node.stop();
        try (WorkersFixture next = node.successor().start()) {
            next.timekeeper.advance(Duration.ofMinutes(3));

            assertThat(debugger("web", "debug").getState().getRunning()).isNotNull();
            assertThat(next.runtime.calls).isEmpty();
        }
    }

    @Test
    void secretIsMissing_waits_andRunsOnceItIsThere() {
        node.create(pod("web"));

        debug(
                "web",
                debugger("debug")
                        .addNewEnvFrom()
                        .withNewSecretRef("db", null)
                        .endEnvFrom()
                        .build());
        assertThat(debugger("web", "debug").getState().getWaiting().getReason())
                .isEqualTo("CreateContainerConfigError");
        assertThat(debugger("web", "debug").getState().getWaiting().getMessage())
                .isEqualTo("secret \"db\" not found");
        assertThat(ready("web")).isEqualTo("True");

        node.secret("db", "v");
        node.settle();
        assertThat(debugger("web", "debug").getState().getRunning()).isNotNull();
        assertThat(node.runtime.environment("debug")).containsEntry("value", "v");
    }

    @Test
    void targetIsNoContainer_waits_andSaysSo() {
        node.create(pod("web"));

        debug("web", debugger("good").withTargetContainerName("main").build());
        debug("web", debugger("bad").withTargetContainerName("other").build());

        assertThat(debugger("web", "good").getState().getRunning()).isNotNull();
        assertThat(debugger("web", "bad").getState().getWaiting().getReason()).isEqualTo("CreateContainerConfigError");
        assertThat(debugger("web", "bad").getState().getWaiting().getMessage())
                .isEqualTo("unable to find target container other");
        assertThat(node.lines()).contains("Warning Failed Error: unable to find target container other");
    }

    @Test
    void startFails_isRepeated_andOthersRun(NoLeaks leaks) {
        leaks.allowWarnings("debug has no disk");
        node.runtime.failsToStart = "debug";
        node.create(pod("web"));

        debug("web", debugger("debug").build());
        assertThat(debugger("web", "debug").getState().getWaiting().getReason()).isEqualTo("RunContainerError");

        node.runtime.failsToStart = null;
        node.timekeeper.advance(Duration.ofMinutes(1));
        assertThat(debugger("web", "debug").getState().getRunning()).isNotNull();
    }

    @Test
    void onlyContainerLacksItsSecret_debuggerRuns_andOneWithATargetWaits() {
        node.create(withoutItsSecret());

        debug("web", debugger("debug").build());
        debug("web", debugger("aimed").withTargetContainerName("main").build());

        assertThat(debugger("web", "debug").getState().getRunning()).isNotNull();
        assertThat(debugger("web", "aimed").getState().getWaiting().getMessage())
                .isEqualTo("unable to find target container main");
        assertThat(node.waiting("web", "main")).isEqualTo("CreateContainerConfigError: secret \"db\" not found");
        assertThat(node.status("web").getPhase()).isEqualTo("Pending");

        node.secret("db", "v");
        node.settle();
        node.timekeeper.advance(Duration.ofMinutes(2));
        assertThat(debugger("web", "aimed").getState().getRunning()).isNotNull();
        assertThat(node.status("web").getPhase()).isEqualTo("Running");
        assertThat(node.runtime.calls).containsExactly("start web/debug", "start web/main", "start web/aimed");
    }

    @Test
    void onlyTheDebuggerRuns_nextAgentKnowsThePod_andDoesNotRefuseIt() {
        node.create(withoutItsSecret());
        debug("web", debugger("debug").build());

        node.stop();
        try (WorkersFixture next = node.successorWithThisRuntime()) {
            next.admission = pod -> Optional.of(new PodRejection("Evicted", "for the test"));
            next.start();
            next.timekeeper.advance(Duration.ofMinutes(3));

            assertThat(next.status("web").getPhase()).isEqualTo("Pending");
            assertThat(next.runtime.calls).containsExactly("start web/debug");
        }
    }

    @Test
    void runtimeLeavesOutTheImage_isThatOfTheSpec() {
        node.runtime.hidesImages = true;
        node.create(pod("web"));
        debug("web", debugger("debug").build());

        assertThat(debugger("web", "debug").getImage()).isEqualTo("busybox");
        assertThat(node.container("web", "main").getImage()).isEqualTo("nginx");
    }

    @Test
    void podEnds_itIsStopped() throws Exception {
        Pod created =
                node.create(pod("job").editSpec().withRestartPolicy("Never").endSpec());
        debug("job", debugger("debug").build());

        node.runtime.runtime.stopContainer(PodReferences.key(created), "main", Duration.ZERO);
        node.timekeeper.advance(Duration.ofMinutes(2));

        assertThat(node.status("job").getPhase()).isEqualTo("Succeeded");
        assertThat(debugger("job", "debug").getState().getTerminated()).isNotNull();
    }

    @Test
    void podIsDeleted_itIsStoppedToo() {
        Pod created = node.create(pod("web"));
        debug("web", debugger("debug").build());

        node.server.cluster().delete(created);
        node.settle();

        assertThat(node.exists("web")).isFalse();
        assertThat(node.runtime.pods()).isEmpty();
        assertThat(node.lines()).contains("Normal Killing Stopping container debug");
    }

    @Test
    void initContainerDoesNotStart_debuggerRuns_andThePodIsPending(NoLeaks leaks) {
        leaks.allowWarnings("second has no disk");
        node.runtime.failsToStart = "second";
        node.create(pod("web")
                .editSpec()
                .addNewInitContainer()
                .withName("first")
                .endInitContainer()
                .addNewInitContainer()
                .withName("second")
                .endInitContainer()
                .endSpec());

        debug("web", debugger("debug").build());

        assertThat(debugger("web", "debug").getState().getRunning()).isNotNull();
        assertThat(node.status("web").getPhase()).isEqualTo("Pending");
        assertThat(node.status("web")
                        .getContainerStatuses()
                        .get(0)
                        .getState()
                        .getWaiting()
                        .getReason())
                .isEqualTo("PodInitializing");
    }
}
