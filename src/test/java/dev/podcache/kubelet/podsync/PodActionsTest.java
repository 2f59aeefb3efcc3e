package dev.podcache.kubelet.podsync;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.kubelet.podsync.ContainerHealth.Unhealthy;
import dev.podcache.kubelet.podsync.PodActions.AfterStop;
import dev.podcache.kubelet.runtime.Launch;
import dev.podcache.kubelet.runtime.PodState;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** After TestComputePodActions and its siblings for init containers and sidecars in kuberuntime_manager_test.go. */
class PodActionsTest {

    private final PodSpecBuilder spec = new PodSpecBuilder().withRestartPolicy("Always");
    private final List<ContainerStatus> init = new ArrayList<>();
    private final List<ContainerStatus> regular = new ArrayList<>();
    private final List<ContainerStatus> ephemeral = new ArrayList<>();
    private final Map<String, Unhealthy> unhealthy = new HashMap<>();
    private final Map<String, String> hashes = new HashMap<>();
    private final ContainerMemory memory = new ContainerMemory();

    private void containers(String... names) {
        for (String name : names) {
            spec.addToContainers(
                    new ContainerBuilder().withName(name).withImage("nginx").build());
        }
    }

    private void initContainers(String... names) {
        for (String name : names) {
            spec.addToInitContainers(
                    new ContainerBuilder().withName(name).withImage("nginx").build());
        }
    }

    private void sidecar(String name) {
        spec.addToInitContainers(new ContainerBuilder()
                .withName(name)
                .withImage("nginx")
                .withRestartPolicy("Always")
                .build());
    }

    private static ContainerStatus running(String name) {
        return new ContainerStatusBuilder()
                .withName(name)
                .withImage("nginx")
                .withContainerID("id://" + name)
                .withStarted(true)
                .withNewState()
                .withNewRunning()
                .endRunning()
                .endState()
                .build();
    }

    private static ContainerStatus exited(String name, int code) {
        return new ContainerStatusBuilder()
                .withName(name)
                .withImage("nginx")
                .withNewState()
                .withNewTerminated()
                .withExitCode(code)
                .endTerminated()
                .endState()
                .build();
    }

    private static ContainerStatus starting(String name) {
        return new ContainerStatusBuilder()
                .withName(name)
                .withImage("nginx")
                .withNewState()
                .withNewWaiting()
                .endWaiting()
                .endState()
                .build();
    }

    private static ContainerStatus notStarted(String name) {
        return new ContainerStatusBuilder(running(name)).withStarted(false).build();
    }

    private PodActions compute() {
        PodSpec built = spec.build();
        return PodActions.of(
                new PodBuilder().withSpec(built).build(),
                new PodState(init, regular, ephemeral, List.of(), hashes),
                memory,
                (container, status) -> Optional.ofNullable(unhealthy.get(container.getName())));
    }

    /** Returns the actions as {@code stop a, start b; over}. */
    private String actions() {
        PodActions actions = compute();
        List<String> all = new ArrayList<>();
        actions.stops().forEach(stop -> all.add("stop " + stop.container().getName()));
        actions.starts().forEach(start -> all.add("start " + start.container().getName()));
        return String.join(", ", all) + (actions.over() ? "; over" : "");
    }

    @Test
    void nothingHasStarted_allStart() {
        containers("a", "b", "c");

        assertThat(actions()).isEqualTo("start a, start b, start c");
    }

    @Test
    void allRun_nothingToDo() {
        containers("a", "b");
        regular.addAll(List.of(running("a"), running("b")));

        assertThat(actions()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "Always,    0, start a",
        "Always,    1, start a",
        "OnFailure, 0, ''",
        "OnFailure, 1, start a",
        "Never,     0, ''",
        "Never,     1, ''",
    })
    void oneHasExited_anotherRuns(String policy, int exitCode, String expected) {
        spec.withRestartPolicy(policy);
        containers("a", "b");
        regular.addAll(List.of(exited("a", exitCode), running("b")));

        assertThat(actions()).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({
        "Always,    0, 'start a, start b'",
        "OnFailure, 0, ; over",
        "OnFailure, 1, 'start a, start b'",
        "Never,     0, ; over",
        "Never,     1, ; over",
    })
    void allHaveExited(String policy, int exitCode, String expected) {
        spec.withRestartPolicy(policy);
        containers("a", "b");
        regular.addAll(List.of(exited("a", exitCode), exited("b", exitCode)));

        assertThat(actions()).isEqualTo(expected);
    }

    @Test
    void restartPolicyIsMissing_isAlways() {
        spec.withRestartPolicy(null);
        containers("a");
        regular.add(exited("a", 0));

        assertThat(actions()).isEqualTo("start a");
    }

    @Test
    void containerComesBackByItself_isNotStarted_andThePodGoesOn() {
        spec.withRestartPolicy("Never");
        containers("a");
        regular.add(starting("a"));

        assertThat(actions()).isEmpty();
    }

    @Test
    void containerNeverStarted_afterOthersHaveExited_isStillStarted() {
        spec.withRestartPolicy("Never");
        containers("a", "b");
        regular.add(exited("a", 1));

        assertThat(actions()).isEqualTo("start b");
    }

    private void ephemeralContainer(String name) {
        spec.addNewEphemeralContainer().withName(name).withImage("busybox").endEphemeralContainer();
    }

    @Test
    void ephemeral_startsOnce_whateverItsExitCode() {
        containers("a");
        ephemeralContainer("debug");
        regular.add(running("a"));
        assertThat(actions()).isEqualTo("start debug");

        ephemeral.add(running("debug"));
        assertThat(actions()).isEmpty();

        ephemeral.set(0, exited("debug", 42));
        assertThat(actions()).isEmpty();
    }

    @Test
    void ephemeral_startsBeforeTheOthers_whichMayNotStart() {
        initContainers("i");
        containers("a");
        ephemeralContainer("debug");
        init.add(exited("i", 1));

        assertThat(actions()).isEqualTo("start debug, start i");
    }

    @Test
    void ephemeral_ofAPodThatHasNotStarted_startsFirst_withoutATarget() {
        initContainers("i");
        containers("a");
        ephemeralContainer("debug");

        assertThat(actions()).isEqualTo("start debug, start i");
        assertThat(compute().starts().get(0).targets()).isEmpty();
    }

    @Test
    void ephemeral_ofAPodThatIsOver_doesNotStart_orKeepItFromEnding() {
        spec.withRestartPolicy("Never");
        containers("a");
        ephemeralContainer("debug");
        ephemeralContainer("more");
        regular.add(exited("a", 0));
        ephemeral.add(running("debug"));

        assertThat(actions()).isEqualTo("; over");
    }

    @Test
    void ephemeral_mayTargetWhatHasStarted() {
        containers("a", "b");
        ephemeralContainer("debug");
        regular.add(running("a"));

        assertThat(compute().starts().get(0).targets()).containsExactly("a");
    }

    @Test
    void unhealthy_isStopped_andTheNextSyncStartsItAgain() {
        containers("a", "b");
        regular.addAll(List.of(running("a"), running("b")));
        unhealthy.put("b", new Unhealthy("liveness", Optional.of(Duration.ofSeconds(5))));

        assertThat(actions()).isEqualTo("stop b");
        PodActions.ContainerStop stop = compute().stops().get(0);
        assertThat(stop.why()).isEqualTo("Container b failed liveness probe, will be restarted");
        assertThat(stop.gracePeriod()).contains(Duration.ofSeconds(5));
        assertThat(stop.next()).isEqualTo(AfterStop.START_AFTER_BACKOFF);
    }

    @Test
    void unhealthyInAPodThatIsNotRestarted_saysNothingAboutARestart() {
        spec.withRestartPolicy("Never");
        containers("a");
        regular.add(running("a"));
        unhealthy.put("a", new Unhealthy("startup", Optional.empty()));

        assertThat(compute().stops().get(0).why()).isEqualTo("Container a failed startup probe");
        assertThat(compute().stops().get(0).next()).isEqualTo(AfterStop.NOTHING);
    }

    @Test
    void stoppedToBeStartedAgain_exitsWithZero_isStarted_underOnFailure() {
        spec.withRestartPolicy("OnFailure");
        containers("a");
        memory.restarts("a", "id://a");
        regular.add(new ContainerStatusBuilder(exited("a", 0))
                .withContainerID("id://a")
                .build());

        assertThat(actions()).isEqualTo("start a");
    }

    @Test
    void stoppedToBeStartedAgain_isOver_underNever() {
        spec.withRestartPolicy("Never");
        containers("a");
        memory.restarts("a", "id://a");
        regular.add(new ContainerStatusBuilder(exited("a", 0))
                .withContainerID("id://a")
                .build());

        assertThat(actions()).isEqualTo("; over");
    }

    @Test
    void stoppedToBeStartedAgain_nextInstanceExitsWithZero_isOver_underOnFailure() {
        spec.withRestartPolicy("OnFailure");
        containers("a");
        memory.restarts("a", "id://a");
        regular.add(new ContainerStatusBuilder(exited("a", 0))
                .withContainerID("id://a/1")
                .build());

        assertThat(actions()).isEqualTo("; over");
    }

    @ParameterizedTest
    @CsvSource({"Always", "OnFailure", "Never"})
    void imageChanged_isStoppedAndStarted_whateverThePolicy(String policy) {
        spec.withRestartPolicy(policy);
        containers("a");
        regular.add(running("a"));
        memory.started("a", Launch.hashOf("a", "old"));

        assertThat(actions()).isEqualTo("stop a");
        PodActions.ContainerStop stop = compute().stops().get(0);
        assertThat(stop.why()).isEqualTo("Container a definition changed, will be restarted");
        assertThat(stop.next()).isEqualTo(AfterStop.START);
    }

    @Test
    void imageInTheStatusDiffers_noHashIsKnown_isLeftAlone_untilTheSpecChanges() {
        containers("a");
        regular.add(new ContainerStatusBuilder(running("a"))
                .withImage("registry/nginx@sha256:0")
                .build());
        assertThat(actions()).isEmpty();

        spec.editFirstContainer().withImage("nginx:2").endContainer();

        assertThat(actions()).isEqualTo("stop a");
    }

    @Test
    void hashOfTheRuntime_countsMoreThanWhatTheAgentRemembers() {
        containers("a", "b");
        regular.addAll(List.of(running("a"), running("b")));
        memory.started("a", Launch.hashOf("a", "old"));
        memory.started("b", Launch.hashOf("b", "nginx"));
        hashes.put("a", Launch.hashOf("a", "nginx"));
        hashes.put("b", Launch.hashOf("b", "old"));

        assertThat(actions()).isEqualTo("stop b");
    }

    /** Upstream's "kill and recreate the container if the container's spec changed" and its restart rules. */
    @ParameterizedTest
    @CsvSource({
        "Never,  Always,    0, start a",
        "Never,  OnFailure, 1, start a",
        "Never,  OnFailure, 0, ; over",
        "Always, Never,     1, ; over",
        "Never,  Never,     42, start a",
        "Never,  Never,     43, ; over",
    })
    void containerHasARestartPolicyOfItsOwn(String ofThePod, String own, int exitCode, String expected) {
        spec.withRestartPolicy(ofThePod);
        spec.addToContainers(withRule(own, "a"));
        regular.add(exited("a", exitCode));

        assertThat(actions()).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({
        "Never,  OnFailure, 1, start a",
        "Always, Never,     1, ; over",
        "Never,  Never,     42, start a",
        "Always, Never,     0, start b",
    })
    void initContainerHasARestartPolicyOfItsOwn(String ofThePod, String own, int exitCode, String expected) {
        spec.withRestartPolicy(ofThePod);
        spec.addToInitContainers(withRule(own, "a"));
        containers("b");
        init.add(exited("a", exitCode));

        assertThat(actions()).isEqualTo(expected);
    }

    private static Container withRule(String policy, String name) {
        return new ContainerBuilder()
                .withName(name)
                .withImage("nginx")
                .withRestartPolicy(policy)
                .addNewRestartPolicyRule()
                .withAction("Restart")
                .withNewExitCodes()
                .withOperator("In")
                .withValues(42)
                .endExitCodes()
                .endRestartPolicyRule()
                .build();
    }

    @ParameterizedTest
    @CsvSource({"Never, Always, true", "Always, Never, false", "Never, OnFailure, true", "Always, , true"})
    void probeFails_policyOfTheContainerDecides_notItsRules(String ofThePod, String own, boolean restarts) {
        spec.withRestartPolicy(ofThePod);
        spec.addToContainers(withRule(own, "a"));
        regular.add(running("a"));
        unhealthy.put("a", new Unhealthy("liveness", Optional.empty()));

        assertThat(compute().stops().get(0).next())
                .isEqualTo(restarts ? AfterStop.START_AFTER_BACKOFF : AfterStop.NOTHING);
    }

    @Test
    void runtimeHasLostAll_initContainersRunAgain_thenTheOthers() {
        initContainers("i1", "i2");
        containers("a");
        init.addAll(List.of(exited("i1", 0), exited("i2", 0)));
        regular.add(exited("a", 137));
        memory.lost(true, Set.of("i1", "i2"));
        assertThat(actions()).isEqualTo("start i1");

        memory.lost(true, Set.of("i2"));
        assertThat(actions()).isEqualTo("start i2");

        memory.lost(true, Set.of());
        assertThat(actions()).isEqualTo("start a");
    }

    @ParameterizedTest
    @CsvSource({"Never, 137", "OnFailure, 0"})
    void runtimeHasLostAll_nothingIsRestarted_initContainersDoNotRun(String policy, int exitCode) {
        spec.withRestartPolicy(policy);
        initContainers("i1");
        containers("a");
        init.add(exited("i1", 0));
        regular.add(exited("a", exitCode));
        memory.lost(true, Set.of("i1"));

        assertThat(actions()).isEqualTo("; over");
    }

    @Test
    void initContainers_startOneAfterTheOther() {
        initContainers("i1", "i2");
        containers("a");
        assertThat(actions()).isEqualTo("start i1");

        init.add(running("i1"));
        assertThat(actions()).isEmpty();

        init.set(0, exited("i1", 0));
        assertThat(actions()).isEqualTo("start i2");

        init.add(exited("i2", 0));
        assertThat(actions()).isEqualTo("start a");
    }

    @ParameterizedTest
    @CsvSource({"Always, start i1", "OnFailure, start i1", "Never, ; over"})
    void initContainerFailed(String policy, String expected) {
        spec.withRestartPolicy(policy);
        initContainers("i1", "i2");
        containers("a");
        init.add(exited("i1", 1));

        assertThat(actions()).isEqualTo(expected);
    }

    @Test
    void initContainerIsForgotten_afterARegularContainerRan_doesNotRunAgain() {
        initContainers("i1");
        containers("a");
        regular.add(running("a"));

        assertThat(actions()).isEmpty();
    }

    @Test
    void initContainerIsForgotten_afterARegularContainerHasEnded_doesNotRunAgain() {
        initContainers("i1");
        containers("a");
        regular.add(exited("a", 1));

        assertThat(actions()).isEqualTo("start a");
    }

    @Test
    void sidecar_nextOneWaitsUntilItHasStarted() {
        sidecar("s1");
        initContainers("i2");
        containers("a");
        assertThat(actions()).isEqualTo("start s1");

        init.add(notStarted("s1"));
        assertThat(actions()).isEmpty();

        init.set(0, running("s1"));
        assertThat(actions()).isEqualTo("start i2");
    }

    @ParameterizedTest
    @CsvSource({"Always", "OnFailure", "Never"})
    void sidecarEnds_whileThePodRuns_isRestartedWhateverThePolicy(String policy) {
        spec.withRestartPolicy(policy);
        sidecar("s1");
        containers("a");
        init.add(exited("s1", 0));
        regular.add(running("a"));

        assertThat(actions()).isEqualTo("start s1");
    }

    @Test
    void sidecarEnds_duringInitialization_isRestartedFirst() {
        sidecar("s1");
        initContainers("i2");
        containers("a");
        init.addAll(List.of(exited("s1", 1), exited("i2", 0)));

        assertThat(actions()).isEqualTo("start s1");
    }

    @Test
    void sidecarIsUnhealthy_isStopped() {
        sidecar("s1");
        containers("a");
        init.add(running("s1"));
        regular.add(running("a"));
        unhealthy.put("s1", new Unhealthy("liveness", Optional.empty()));

        assertThat(actions()).isEqualTo("stop s1");
    }

    @Test
    void sidecarFailsItsStartupProbe_duringInitialization_isStopped() {
        sidecar("s1");
        containers("a");
        init.add(notStarted("s1"));
        unhealthy.put("s1", new Unhealthy("startup", Optional.empty()));

        assertThat(actions()).isEqualTo("stop s1");
    }

    @ParameterizedTest
    @CsvSource({"OnFailure", "Never"})
    void onlySidecarsRun_podIsOver(String policy) {
        spec.withRestartPolicy(policy);
        sidecar("s1");
        containers("a");
        init.add(running("s1"));
        regular.add(exited("a", 0));

        assertThat(actions()).isEqualTo("; over");
    }

    @Test
    void sidecarHasEnded_too_isNotStartedAgainForAPodThatIsOver() {
        spec.withRestartPolicy("Never");
        sidecar("s1");
        containers("a");
        init.add(exited("s1", 1));
        regular.add(exited("a", 0));

        assertThat(actions()).isEqualTo("; over");
    }

    @Test
    void initContainerFails_whileASidecarRuns_neverRestarted_podIsOver() {
        spec.withRestartPolicy("Never");
        sidecar("s1");
        initContainers("i2");
        containers("a");
        init.addAll(List.of(running("s1"), exited("i2", 1)));

        assertThat(actions()).isEqualTo("; over");
    }
}
