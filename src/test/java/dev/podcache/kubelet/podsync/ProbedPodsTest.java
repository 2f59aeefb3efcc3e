package dev.podcache.kubelet.podsync;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableMap;
import dev.podcache.kubelet.eviction.Eviction;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.ProbeBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Pods with probes. Everything is real except the containers, the commands in them and the network. */
@ExtendWith(NoLeaks.class)
class ProbedPodsTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private final WorkersFixture node = new WorkersFixture(WorkersFixture.Options.DEFAULT.withProbes());
    private int exitCode;

    @AfterEach
    void tearDown() {
        node.close();
    }

    private void answer() {
        node.runtime.commands = command -> new FakeProcess("answer", exitCode);
    }

    private static Probe probe(String command) {
        return new ProbeBuilder()
                .withNewExec()
                .withCommand(command)
                .endExec()
                .withTimeoutSeconds(1)
                .withPeriodSeconds(1)
                .withSuccessThreshold(1)
                .withFailureThreshold(2)
                .build();
    }

    private static PodBuilder withReadiness(String name) {
        return WorkersFixture.pod(name)
                .editSpec()
                .editFirstContainer()
                .withReadinessProbe(probe("ready"))
                .endContainer()
                .endSpec();
    }

    private static PodBuilder withLiveness(String name) {
        return WorkersFixture.pod(name)
                .editSpec()
                .withTerminationGracePeriodSeconds(20L)
                .editFirstContainer()
                .withLivenessProbe(probe("alive"))
                .endContainer()
                .endSpec();
    }

    private void pass(Duration time) {
        node.timekeeper.advance(time);
        node.settle();
    }

    @Test
    void readinessProbe_succeeds_containerIsReadyAtOnce() {
        exitCode = 1;
        answer();
        node.start();
        node.create(withReadiness("web"));
        assertThat(node.container("web", "main").getReady()).isFalse();

        exitCode = 0;
        pass(SECOND);

        assertThat(node.container("web", "main").getReady()).isTrue();
    }

    @Test
    void readinessProbe_fails_containerIsNotReadyAnyMore_butGoesOn() {
        answer();
        node.start();
        node.create(withReadiness("web"));
        pass(SECOND);

        exitCode = 1;
        pass(Duration.ofSeconds(3));

        assertThat(node.container("web", "main").getReady()).isFalse();
        assertThat(node.runtime.calls).doesNotContain("stop web/main in 30");
        assertThat(node.events.lines()).contains("Warning Unhealthy Readiness probe failed: answer");
    }

    @Test
    void livenessProbe_fails_containerIsStoppedAndStartedAgain() {
        answer();
        node.start();
        node.create(withLiveness("web"));
        pass(SECOND);

        exitCode = 1;
        pass(Duration.ofSeconds(2));
        exitCode = 0;
        pass(SECOND);

        assertThat(node.runtime.calls).containsSubsequence("start web/main", "stop web/main in 20", "start web/main");
        assertThat(node.events.lines())
                .contains("Normal Killing Container main failed liveness probe, will be restarted");
        assertThat(node.container("web", "main").getRestartCount()).isEqualTo(1);
        assertThat(node.container("web", "main").getState().getRunning()).isNotNull();
    }

    private static PodBuilder onFailure(PodBuilder pod) {
        return pod.editSpec().withRestartPolicy("OnFailure").endSpec();
    }

    @Test
    void livenessProbe_fails_containerThatExitsWithZeroIsStartedAgain_underOnFailure() {
        exitCode = 1;
        answer();
        List<String> phases = new ArrayList<>();
        node.reported = (pod, status) -> phases.add(status.getPhase());
        node.start();
        node.create(onFailure(withLiveness("job")));

        pass(SECOND);
        exitCode = 0;
        pass(SECOND);

        assertThat(node.runtime.calls).containsSubsequence("start job/main", "stop job/main in 20", "start job/main");
        assertThat(node.container("job", "main").getRestartCount()).isEqualTo(1);
        assertThat(node.container("job", "main").getState().getRunning()).isNotNull();
        assertThat(phases).contains("Running").doesNotContain("Succeeded");
    }

    @Test
    void livenessProbe_failsForEver_restartsBackOff_underOnFailure() {
        exitCode = 1;
        answer();
        node.start();
        node.create(onFailure(withLiveness("job")));

        pass(Duration.ofSeconds(9));

        assertThat(node.container("job", "main").getRestartCount()).isEqualTo(1);
        assertThat(node.waiting("job", "main")).startsWith("CrashLoopBackOff: back-off 10s restarting failed");
        assertThat(node.status("job").getPhase()).isEqualTo("Running");

        pass(Duration.ofSeconds(5));

        assertThat(node.container("job", "main").getRestartCount()).isEqualTo(2);
    }

    @Test
    @ExpectedWarnings("runtime failed to stop container main of pod shop/job")
    void livenessProbe_fails_containerEndsDuringAStopThatFails_isStartedAgain_underOnFailure() {
        exitCode = 1;
        answer();
        node.runtime.failsAfterStop = true;
        node.start();
        node.create(onFailure(withLiveness("job")));
        pass(Duration.ofSeconds(2));
        assertThat(node.status("job").getPhase()).isEqualTo("Running");

        node.runtime.failsAfterStop = false;
        exitCode = 0;
        pass(Duration.ofSeconds(15));

        assertThat(node.container("job", "main").getRestartCount()).isEqualTo(1);
        assertThat(node.container("job", "main").getState().getRunning()).isNotNull();
    }

    /** Ends the pod, and returns whether its container is ready after each of these answers while it is stopped. */
    private List<Boolean> readyWhileStopped(Pod web, int... answers) {
        List<Boolean> ready = new ArrayList<>();
        node.runtime.duringStop = () -> {
            node.runtime.duringStop = null;
            for (int answer : answers) {
                exitCode = answer;
                pass(Duration.ofSeconds(4));
                ready.add(node.container("web", "main").getReady());
                assertThat(conditions("web")).contains("Ready " + ready.get(ready.size() - 1));
                assertThat(conditions("web")).contains("ContainersReady " + ready.get(ready.size() - 1));
            }
        };
        node.server.cluster().delete(web);
        node.settle();
        assertThat(node.exists("web")).isFalse();
        return ready;
    }

    private List<String> conditions(String pod) {
        return node.status(pod).getConditions().stream()
                .map(each -> each.getType() + " " + each.getStatus().toLowerCase(Locale.ROOT))
                .toList();
    }

    @Test
    void readinessProbe_changesWhileThePodIsStopped_isReportedAtOnce() {
        answer();
        node.start();
        Pod web = node.create(withReadiness("web"));
        pass(SECOND);

        assertThat(readyWhileStopped(web, 1, 0)).containsExactly(false, true);
    }

    @Test
    void readinessProbe_succeedsWhileThePodIsStopped_runtimeSaysThatItIsNotReady_isNot() {
        exitCode = 1;
        answer();
        node.runtime.notReady = true;
        node.start();
        Pod web = node.create(withReadiness("web"));
        pass(Duration.ofSeconds(4));

        assertThat(readyWhileStopped(web, 0)).containsExactly(false);
    }

    /** Else a pod that is evicted is restarted by its liveness probe while it is stopped. */
    @Test
    void podIsEvicted_livenessIsNotCheckedAnyMore_readinessIs() throws Exception {
        answer();
        node.start();
        Pod web = node.create(withReadiness("web")
                .editSpec()
                .editFirstContainer()
                .withLivenessProbe(probe("alive"))
                .endContainer()
                .endSpec());
        pass(Duration.ofSeconds(3));
        node.runtime.duringStop = () -> {
            node.runtime.duringStop = null;
            node.runtime.calls.clear();
            pass(Duration.ofSeconds(5));
        };

        node.workers.evict(
                new Eviction(web, "memory.available", "no memory", ImmutableMap.of(), Duration.ofSeconds(30), true));
        node.settle();

        assertThat(node.status("web").getReason()).isEqualTo("Evicted");
        assertThat(node.runtime.calls).contains("exec web/main ready").doesNotContain("exec web/main alive");
    }

    @Test
    void livenessProbe_fails_underNever_podFailsOrSucceedsByItsExitCode() {
        exitCode = 1;
        answer();
        node.start();
        node.create(withLiveness("job").editSpec().withRestartPolicy("Never").endSpec());

        pass(Duration.ofSeconds(2));

        assertThat(node.status("job").getPhase()).isEqualTo("Succeeded");
    }

    @Test
    void restartOfTheAgent_duringTheBackOffAfterAProbe_containerIsStartedAgain_underOnFailure() {
        exitCode = 1;
        answer();
        node.start();
        node.create(onFailure(withLiveness("job")));
        pass(Duration.ofSeconds(9));
        node.stop();

        try (WorkersFixture next = node.successor()) {
            next.start();
            next.timekeeper.advance(Duration.ofSeconds(15));
            next.settle();

            assertThat(next.container("job", "main").getRestartCount()).isEqualTo(2);
            assertThat(next.status("job").getPhase()).isEqualTo("Running");
        }
    }

    @Test
    void livenessProbe_failsForEver_restartsBackOff() {
        exitCode = 1;
        answer();
        node.start();
        node.create(withLiveness("web"));

        pass(Duration.ofSeconds(9));

        assertThat(node.container("web", "main").getRestartCount()).isEqualTo(1);
        assertThat(node.waiting("web", "main")).startsWith("CrashLoopBackOff: back-off 10s restarting failed");
    }

    @Test
    void livenessProbeOfItsOwnGracePeriod_fails_isStoppedInThat() {
        Pod web = withLiveness("web").build();
        web.getSpec().getContainers().get(0).getLivenessProbe().setTerminationGracePeriodSeconds(5L);
        exitCode = 1;
        answer();
        node.start();
        node.create(new PodBuilder(web));

        pass(Duration.ofSeconds(3));

        assertThat(node.runtime.calls).contains("stop web/main in 5");
    }

    @Test
    void startupProbe_hasNotSucceeded_containerIsNotStarted() {
        exitCode = 1;
        answer();
        node.start();
        Pod web = WorkersFixture.pod("web").build();
        web.getSpec().getContainers().get(0).setStartupProbe(probe("up"));
        node.create(new PodBuilder(web));
        assertThat(node.container("web", "main").getStarted()).isFalse();

        exitCode = 0;
        pass(SECOND);

        assertThat(node.container("web", "main").getStarted()).isTrue();
        assertThat(node.container("web", "main").getReady()).isTrue();
    }

    @Test
    void podIsGone_isProbedNoMore() {
        answer();
        node.start();
        Pod web = node.create(withReadiness("web"));

        node.server.cluster().delete(web);
        pass(SECOND);
        node.runtime.calls.clear();
        pass(Duration.ofMinutes(1));

        assertThat(node.exists("web")).isFalse();
        assertThat(node.runtime.calls).isEmpty();
    }

    @Test
    void restartOfTheAgent_podThatWasNotReady_becomesReady() {
        exitCode = 1;
        answer();
        node.start();
        node.create(withReadiness("web"));
        node.stop();

        try (WorkersFixture next = node.successor()) {
            next.start();
            next.timekeeper.advance(Duration.ofSeconds(2));
            next.settle();

            assertThat(next.container("web", "main").getReady()).isTrue();
        }
    }
}
