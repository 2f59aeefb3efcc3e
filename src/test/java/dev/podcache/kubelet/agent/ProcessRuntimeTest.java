package dev.podcache.kubelet.agent;

import static dev.podcache.kubelet.agent.ProcessFixture.container;
import static dev.podcache.kubelet.agent.ProcessFixture.launch;
import static dev.podcache.kubelet.agent.ProcessFixture.restart;
import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.kubelet.runtime.ContainerLogs.LogOptions;
import dev.podcache.kubelet.runtime.Launch;
import dev.podcache.kubelet.runtime.PodState;
import dev.podcache.object.PodKey;
import dev.podcache.testing.NoLeaks;
import dev.podcache.time.ApiTime;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Containers as processes: start, end, restart and stop. */
@EnabledOnOs(OS.LINUX)
class ProcessRuntimeTest extends OnProcesses {

    private static final Duration LONG = Duration.ofMinutes(5);

    @Test
    void start_containerRuns_statusSaysSinceWhen() throws IOException, InterruptedException {
        Instant before = fixture.timekeeper.wallTime().minusSeconds(1);

        fixture.runUntilReady("echo ready; sleep 300");

        PodState state = fixture.runtime.status(fixture.pod);
        ContainerStatus status = fixture.status();
        assertThat(state.podIps()).containsExactly("127.0.0.1");
        assertThat(state.initContainers()).isEmpty();
        assertThat(status.getName()).isEqualTo("main");
        assertThat(status.getImage()).isEqualTo("none");
        assertThat(status.getRestartCount()).isZero();
        assertThat(status.getContainerID()).startsWith("process://");
        assertThat(ApiTime.parse(status.getState().getRunning().getStartedAt()).orElseThrow())
                .isBetween(before, fixture.timekeeper.wallTime());
        assertThat(fixture.runtime.pods()).containsExactly(fixture.key);
    }

    @Test
    void start_initContainer_isAmongTheInitContainers() throws IOException, InterruptedException {
        Pod pod = new PodBuilder(fixture.pod)
                .editSpec()
                .addToInitContainers(container("prepare"))
                .endSpec()
                .build();

        fixture.runtime.startContainer(pod, container("prepare"), launch(Map.of(), "true"));
        fixture.awaitChange();

        PodState state = fixture.runtime.status(pod);
        assertThat(state.containers()).isEmpty();
        assertThat(state.initContainers()).extracting(ContainerStatus::getName).containsExactly("prepare");
    }

    @Test
    void commandEnds_eventComesAndStatusHasItsExitCode() throws IOException, InterruptedException {
        var end = fixture.runToEnd("exit 3");

        assertThat(end.getExitCode()).isEqualTo(3);
        assertThat(end.getReason()).isEqualTo("Error");
        assertThat(end.getContainerID()).isEqualTo(fixture.status().getContainerID());
        Duration ran = Duration.between(
                ApiTime.parse(end.getStartedAt()).orElseThrow(),
                ApiTime.parse(end.getFinishedAt()).orElseThrow());
        assertThat(ran).isBetween(Duration.ZERO, Duration.ofSeconds(60));
    }

    @Test
    void commandSucceeds_reasonIsCompleted() throws IOException, InterruptedException {
        assertThat(fixture.runToEnd("true").getReason()).isEqualTo("Completed");
    }

    @Test
    void commandIsKilledByASignal_exitCodeHasItsNumber() throws IOException, InterruptedException {
        assertThat(fixture.runToEnd("kill -SEGV $$").getExitCode()).isEqualTo(128 + 11);
    }

    @Test
    void commandDoesNotExist_exitCodeIs127AndOutputSaysWhy() throws IOException, InterruptedException {
        fixture.start(launch(Map.of(), "no-such-program"));
        fixture.awaitChange();

        assertThat(fixture.end().getExitCode()).isEqualTo(127);
        assertThat(fixture.logs()).contains("no-such-program");
    }

    @Test
    void commandEnds_whatItLeftInItsGroupEndsToo() throws IOException, InterruptedException {
        fixture.runToEnd("sleep 300 & echo $!");

        ProcessFixture.awaitEnd(Long.parseLong(fixture.logs().trim()));
    }

    @Test
    void start_environment_isThatOfTheLaunch() throws IOException, InterruptedException {
        // names of variables of the script
        Map<String, String> environment = Map.of("now", "later", "line", "a  b\\n", "PATH", "/opt/bin:/usr/bin:/bin");

        fixture.start(launch(environment, "env"));
        fixture.awaitChange();

        assertThat(fixture.logs().lines().filter(line -> !line.matches("(PWD|_|SHLVL|OLDPWD)=.*")))
                .containsExactlyInAnyOrder(
                        "now=later",
                        "line=a  b\\n",
                        "PATH=/opt/bin:/usr/bin:/bin",
                        "PODCACHE_ROOT=" + fixture.instance(0).resolve("root"));
    }

    @ParameterizedTest
    @CsvSource({"'', HOSTNAME=web-0", "mine, HOSTNAME=mine"})
    void start_hostname_isAVariable_unlessTheContainerHasItsOwn(String own, String expected)
            throws IOException, InterruptedException {
        Map<String, String> environment = own.isEmpty() ? Map.of() : Map.of("HOSTNAME", own);

        fixture.start(new Launch(
                List.of("env"), List.of(), "", environment, List.of(), List.of(), 0, "", "web-0", "web-0.svc"));
        fixture.awaitChange();

        assertThat(fixture.logs().lines()).contains(expected);
    }

    @Test
    void start_argumentsWithBlanksAndQuotes_arriveUnchanged() throws IOException, InterruptedException {
        Launch launch = new Launch(
                List.of("printf", "%s|"), List.of("a b", "", "$HOME", "'\"\\"), "", Map.of(), List.of(), List.of(), 0);

        fixture.start(launch);
        fixture.awaitChange();

        assertThat(fixture.logs()).isEqualTo("a b||$HOME|'\"\\|\n");
    }

    @Test
    void start_noCommand_isRefusedWithTheRemedy() {
        assertThatThrownBy(() -> fixture.start(launch(Map.of())))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("container main has no command")
                .hasMessageContaining("pod's spec must have one");
    }

    @Test
    void start_zeroByteInAVariable_messageNamesItWithoutItsValue() {
        assertThatThrownBy(() -> fixture.start(launch(Map.of("TOKEN", NoLeaks.CANARY + "\0"), "true")))
                .satisfies(NoLeaks::saw)
                .isInstanceOf(IOException.class)
                .hasMessageContaining("TOKEN");
    }

    @Test
    void start_containerRunsAlready_isRefused() throws IOException, InterruptedException {
        fixture.run("sleep 300");

        assertThatThrownBy(() -> fixture.run("true"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("already");
        assertThat(fixture.isRunning()).isTrue();
    }

    @Test
    void start_threadIsInterrupted_containerDoesNotRun() throws IOException {
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> fixture.run("sleep 300")).isInstanceOf(InterruptedException.class);

        assertThat(Thread.interrupted()).isFalse();
        assertThat(fixture.runtime.status(fixture.pod).containers()).isEmpty();
        try (Stream<ProcessHandle> children = ProcessHandle.current().children()) {
            children.filter(child -> child.info().commandLine().orElse("").contains(fixture.directory.toString()))
                    .forEach(child -> ProcessFixture.awaitEnd(child.pid()));
        }
    }

    @Test
    void start_again_countsAndKeepsTheLastEndAndOutput() throws IOException, InterruptedException {
        fixture.runToEnd("echo first; exit 3");
        String first = fixture.status().getContainerID();

        fixture.start(restart(1, "echo second; sleep 300"));

        ContainerStatus status = fixture.status();
        assertThat(status.getRestartCount()).isEqualTo(1);
        assertThat(status.getState().getRunning()).isNotNull();
        assertThat(status.getContainerID()).isNotEqualTo(first);
        assertThat(status.getLastState().getTerminated().getExitCode()).isEqualTo(3);
        assertThat(status.getLastState().getTerminated().getContainerID()).isEqualTo(first);
        assertThat(fixture.logs(new LogOptions(false, true, false, OptionalLong.empty(), Optional.empty())))
                .isEqualTo("first\n");
    }

    @Test
    void start_manyTimes_onlyTwoInstancesAreKept() throws IOException, InterruptedException {
        for (int i = 0; i < 4; i++) {
            fixture.start(restart(i, "exit " + i));
            fixture.awaitChange();
        }

        assertThat(fixture.instance(1)).doesNotExist();
        assertThat(fixture.instance(2).resolve("root")).doesNotExist();
        assertThat(fixture.end().getExitCode()).isEqualTo(3);
        assertThat(fixture.status().getLastState().getTerminated().getExitCode())
                .isEqualTo(2);
    }

    @Test
    void stop_containerEndsAtOnce_exitCodeIsThatOfTheSignal() throws IOException, InterruptedException {
        fixture.run("exec sleep 300");

        fixture.stop(LONG);

        assertThat(fixture.end().getExitCode()).isEqualTo(143);
        assertThat(fixture.end().getReason()).isEqualTo("Error");
    }

    @Test
    void stop_containerEndsOrderly_exitCodeIsItsOwn() throws IOException, InterruptedException {
        fixture.runUntilReady("trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.1; done");

        fixture.stop(LONG);

        assertThat(fixture.end().getExitCode()).isZero();
        assertThat(fixture.logs()).endsWith("bye\n");
    }

    @Test
    void stop_containerIgnoresTheSignal_isKilledAfterTheGracePeriod() throws IOException, InterruptedException {
        fixture.runUntilReady("trap '' TERM; echo ready; while :; do sleep 300; done");
        long begin = fixture.timekeeper.nanoTime();

        fixture.stop(Duration.ofMillis(300));

        assertThat(Duration.ofNanos(fixture.timekeeper.nanoTime() - begin)).isGreaterThan(Duration.ofMillis(299));
        assertThat(fixture.end().getExitCode()).isEqualTo(137);
    }

    @Test
    void stop_processLeftTheGroupAndHoldsTheOutput_containerEndsAfterTheGracePeriod()
            throws IOException, InterruptedException {
        fixture.runUntilReady("setsid sleep 301 & echo $! >pid; echo ready; exit 5");
        long left = Long.parseLong(
                Files.readString(fixture.instance(0).resolve("root/pid")).trim());
        await().until(() -> Files.exists(fixture.instance(0).resolve("exit")));

        fixture.stop(Duration.ofMillis(100));
        ProcessFixture.kill("KILL", left);

        assertThat(fixture.end().getExitCode()).isEqualTo(5);
    }

    @Test
    void stop_threadIsInterrupted_canBeRepeatedWithAShorterGracePeriod() throws IOException, InterruptedException {
        fixture.runUntilReady("trap '' TERM; echo ready; while :; do sleep 300; done");
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> fixture.stop(LONG)).isInstanceOf(InterruptedException.class);
        assertThat(fixture.isRunning()).isTrue();

        fixture.stop(Duration.ZERO);
        assertThat(fixture.isRunning()).isFalse();
    }

    @Test
    void stop_wholePod_stopsAllContainers() throws IOException, InterruptedException {
        Pod pod = new PodBuilder(fixture.pod)
                .editSpec()
                .addToContainers(container("side"))
                .endSpec()
                .build();
        fixture.run("exec sleep 300");
        fixture.runtime.startContainer(pod, container("side"), launch(Map.of(), "sleep", "300"));

        fixture.runtime.stopPod(fixture.key, LONG);

        assertThat(fixture.runtime.status(pod).containers())
                .extracting(status -> status.getState().getTerminated().getExitCode())
                .containsExactly(143, 143);
    }

    @Test
    void stop_containerThatEnded_orNeverRan_hasNoEffect() throws IOException, InterruptedException {
        fixture.stop(LONG);
        fixture.runToEnd("exit 3");

        fixture.stop(LONG);

        assertThat(fixture.end().getExitCode()).isEqualTo(3);
    }

    @Test
    void forget_deletesTheDirectoryOfThePod() throws IOException, InterruptedException {
        fixture.runToEnd("true");

        fixture.runtime.forget(fixture.key);
        fixture.runtime.forget(PodKey.of("shop", "web", "unknown"));

        assertThat(fixture.directory.resolve("pods/uid-1")).doesNotExist();
        assertThat(fixture.runtime.pods()).isEmpty();
        assertThat(fixture.runtime.status(fixture.pod).containers()).isEmpty();
    }

    @Test
    void namesThatLeadOutOfTheDirectory_areRefused() {
        PodKey evil = PodKey.of("shop", "web", "../../evil");

        assertThatThrownBy(() -> fixture.runtime.forget(evil)).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> fixture.runtime.stopContainer(fixture.key, "../main", LONG))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("../main");
        assertThatThrownBy(() -> fixture.runtime.logs(fixture.key, "..", LogOptions.ALL))
                .isInstanceOf(IOException.class);
        assertThatThrownBy(() ->
                        fixture.runtime.startContainer(fixture.pod, container("../../x"), launch(Map.of(), "true")))
                .isInstanceOf(IOException.class);
    }

    @Test
    void logs_containerThatNeverRan_saysWhichIsMissing() {
        assertThatThrownBy(() -> fixture.logs())
                .isInstanceOf(NoSuchFileException.class)
                .hasMessageContaining("container main of pod shop/web not found");
    }

    @Test
    void health_programsAndDirectoryAreThere_isReady() {
        assertThat(fixture.runtime.health().problem()).isEmpty();
        assertThat(fixture.runtime.health().version()).isNotEmpty();
        assertThat(fixture.runtime.type()).isEqualTo("process");
    }

    @Test
    void health_directoryIsGone_saysSo() {
        ProcessRuntime other = ProcessRuntime.in(fixture.directory.resolve("absent"), fixture.timekeeper);

        assertThat(other.health().problem().orElseThrow()).contains("absent");
    }

    @Test
    void podIp_isTheOneOfTheBuilder() {
        fixture.restarted(
                ProcessRuntime.builder(fixture.directory, fixture.timekeeper).podIp("192.0.2.9"));

        assertThat(fixture.runtime.status(fixture.pod).podIps()).containsExactly("192.0.2.9");
    }

    @Test
    void podIp_isNoAddress_isRefused() {
        assertThatThrownBy(() -> ProcessRuntime.builder(fixture.directory, fixture.timekeeper)
                        .podIp("web.example"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("podIp must be an IP address, but is \"web.example\"");
    }
}
