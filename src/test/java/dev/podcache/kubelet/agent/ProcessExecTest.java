package dev.podcache.kubelet.agent;

import static dev.podcache.kubelet.agent.ProcessFixture.awaitEnd;
import static dev.podcache.kubelet.agent.ProcessFixture.launch;
import static dev.podcache.kubelet.agent.ProcessFixture.reader;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.podcache.kubelet.runtime.ContainerExec.ContainerProcess;
import dev.podcache.kubelet.runtime.ContainerStatistics.ContainerUsage;
import dev.podcache.kubelet.runtime.ContainerStatistics.PodUsage;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.Patience;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Commands beside the command of a container, and what containers use. */
@EnabledOnOs(OS.LINUX)
class ProcessExecTest extends OnProcesses {

    private ContainerProcess exec(String script) throws IOException {
        return fixture.runtime.exec(fixture.key, "main", List.of("sh", "-c", script), false);
    }

    private ContainerUsage usage() throws IOException {
        List<PodUsage> usage = fixture.runtime.usage();
        assertThat(usage).hasSize(1);
        assertThat(usage.get(0).pod()).isEqualTo(fixture.key);
        assertThat(usage.get(0).containers()).hasSize(1);
        return usage.get(0).containers().get(0);
    }

    @Test
    void exec_hasEnvironmentAndDirectoryOfTheContainer() throws IOException, InterruptedException {
        fixture.start(launch("/app", Map.of("TOKEN", "a=b"), List.of(), "sleep", "300"));

        assertThat(fixture.exec("echo $TOKEN; pwd -P"))
                .isEqualTo("a=b\n" + fixture.instance(0).toRealPath().resolve("root/app") + "\n");
    }

    @Test
    void exec_containerHasTheMarkOfOneThatIsLaunched_isNotHeldUp() throws IOException, InterruptedException {
        fixture.start(launch(Map.of("PODCACHE_LAUNCHING", "1", "TOKEN", "a=b"), "sleep", "300"));

        assertThat(fixture.exec("echo $TOKEN$PODCACHE_LAUNCHING")).isEqualTo("a=b\n");
    }

    @Test
    void exec_afterARestartOfTheAgent_hasTheEnvironmentToo() throws IOException, InterruptedException {
        fixture.start(launch(Map.of("TOKEN", "a=b"), "sleep", "300"));

        fixture.restarted();

        assertThat(fixture.exec("echo $TOKEN")).isEqualTo("a=b\n");
    }

    /** As a program does that writes its title over its variables. */
    @Test
    void exec_commandHasClearedItsEnvironment_hasThatOfTheStart() throws IOException, InterruptedException {
        startWithoutVariables();

        assertThat(fixture.exec("echo $TOKEN")).isEqualTo("a=b\n");
    }

    @Test
    @ExpectedWarnings("the environment of container main is not known: an earlier agent started it")
    void exec_afterARestartOfTheAgent_commandHasClearedItsEnvironment_hasAPath()
            throws IOException, InterruptedException {
        startWithoutVariables();

        fixture.restarted();

        for (int i = 0; i < 2; i++) {
            assertThat(fixture.exec("echo ${TOKEN-none} $PATH"))
                    .isEqualTo("none /usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n");
        }
    }

    private void startWithoutVariables() throws IOException, InterruptedException {
        fixture.start(launch(Map.of("TOKEN", "a=b"), "env", "-i", "/bin/sh", "-c", "echo ready; exec /bin/sleep 300"));
        fixture.awaitLine("ready");
    }

    @Test
    void exec_streamsAndExitCode() throws IOException, InterruptedException {
        fixture.run("exec sleep 300");

        try (ContainerProcess process = exec("read a; echo $a; echo error >&2; exit 4")) {
            process.stdin().write("input\n".getBytes(StandardCharsets.UTF_8));
            process.stdin().close();
            assertThat(reader(process.stdout()).lines()).containsExactly("input");
            assertThat(reader(process.stderr()).lines()).containsExactly("error");
            assertThat(process.await()).isEqualTo(4);
        }
    }

    @Test
    void exec_programDoesNotExist_exitCodeIs127() throws IOException, InterruptedException {
        fixture.run("exec sleep 300");

        try (ContainerProcess process = fixture.runtime.exec(fixture.key, "main", List.of("no-such-program"), false)) {
            assertThat(process.await()).isEqualTo(127);
        }
    }

    @Test
    void exec_closed_killsTheCommandAndItsChildren() throws IOException, InterruptedException {
        fixture.run("exec sleep 300");
        ContainerProcess process = exec("sleep 300 & echo $!; wait");
        BufferedReader output = reader(process.stdout());
        long child = Long.parseLong(output.readLine());

        process.close();

        assertThat(process.await()).isEqualTo(137);
        awaitEnd(child);
    }

    @Test
    void exec_containerEnds_commandEndsToo() throws IOException, InterruptedException {
        fixture.run("exec sleep 300");
        ContainerProcess process = exec("exec sleep 300");

        fixture.stop(Duration.ofMinutes(5));

        assertThat(process.await()).isEqualTo(137);
    }

    @Test
    void exec_containerDoesNotRun_saysSo() throws IOException, InterruptedException {
        assertThatThrownBy(() -> exec("true")).hasMessage("container main does not run");
        fixture.runToEnd("true");
        assertThatThrownBy(() -> exec("true")).hasMessage("container main does not run");
    }

    @Test
    void exec_withTerminal_isRefusedWithTheRemedy() {
        assertThatThrownBy(() -> fixture.runtime.exec(fixture.key, "main", List.of("sh"), true))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("leave out --tty");
    }

    @Test
    void usage_growsWithWhatTheContainerUses() throws IOException, InterruptedException {
        fixture.runUntilReady(
                "i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done; head -c 100000 /dev/zero >file; sleep 300 & echo ready; wait");

        Patience.await().until(() -> usage().cpu().compareTo(Duration.ZERO) > 0);
        ContainerUsage usage = usage();
        assertThat(usage.name()).isEqualTo("main");
        assertThat(usage.startedAt()).isBefore(usage.measuredAt());
        assertThat(usage.workingSetBytes()).isGreaterThan(100_000).isGreaterThanOrEqualTo(usage.rssBytes());
        assertThat(usage.rssBytes()).isPositive();
        assertThat(usage.logBytes()).isEqualTo("179540280948 ready\n".length());
        assertThat(usage.diskBytes()).isEqualTo(100_000);
    }

    /** The children of a fork have the memory of their parent, until they write to it. */
    @Test
    void usage_memoryThatProcessesShare_countsOnce() throws IOException, InterruptedException {
        assumeTrue(Files.isReadable(Path.of("/proc/self/smaps_rollup")), "Linux does not show what is shared");
        fixture.runUntilReady("x=$(head -c 50000000 /dev/zero | tr '\\0' x);"
                + " for i in 1 2 3 4; do (sleep 300; true) & done; echo ready; wait");

        ContainerUsage usage = usage();

        assertThat(usage.workingSetBytes()).isBetween(45_000_000L, 150_000_000L);
        assertThat(usage.rssBytes()).isBetween(45_000_000L, usage.workingSetBytes());
    }

    @Test
    void usage_containerEnded_isLeftOut() throws IOException, InterruptedException {
        fixture.runToEnd("true");

        assertThat(fixture.runtime.usage()).isEmpty();
    }
}
