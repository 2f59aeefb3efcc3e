package dev.podcache.kubelet.agent;

import static dev.podcache.kubelet.agent.ProcessFixture.awaitEnd;
import static dev.podcache.kubelet.agent.ProcessFixture.kill;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.Patience;
import dev.podcache.testing.Slow;
import io.fabric8.kubernetes.api.model.ContainerStateTerminated;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** What a runtime knows of containers that an earlier one started. */
@Slow
@EnabledOnOs(OS.LINUX)
class ProcessAdoptionTest extends OnProcesses {

    private static final Duration LONG = Duration.ofMinutes(5);

    private void assertUnknownEnd() {
        ContainerStateTerminated end = fixture.end();
        assertThat(end.getReason()).isEqualTo("ContainerStatusUnknown");
        assertThat(end.getExitCode()).isEqualTo(137);
        assertThat(fixture.end()).as("does not change").isEqualTo(end);
    }

    /** Replaces the PID in the files of the first start. */
    private void replace(String file, String regex, String replacement) throws IOException {
        Path path = fixture.instance(0).resolve(file);
        Files.writeString(path, Files.readString(path).replaceFirst(regex, replacement));
    }

    @Test
    void containerRuns_isFoundAndItsEndNoticed() throws IOException, InterruptedException {
        fixture.runUntilReady("echo ready; while [ ! -e end ]; do sleep 0.05; done; exit 4");
        String id = fixture.status().getContainerID();

        fixture.restarted();

        assertThat(fixture.isRunning()).isTrue();
        assertThat(fixture.status().getContainerID()).isEqualTo(id);
        Files.createFile(fixture.instance(0).resolve("root/end"));
        fixture.awaitChange();
        assertThat(fixture.end().getExitCode()).isEqualTo(4);
    }

    @Test
    void containerRuns_canBeStopped() throws IOException, InterruptedException {
        fixture.run("exec sleep 300");

        fixture.restarted();
        fixture.stop(LONG);

        assertThat(fixture.end().getExitCode()).isEqualTo(143);
    }

    @Test
    void containerEndedWhileNobodyWatched_exitCodeIsKnown() throws IOException, InterruptedException {
        fixture.runToEnd("exit 6");

        fixture.restarted();

        assertThat(fixture.end().getExitCode()).isEqualTo(6);
        assertThat(fixture.runtime.pods()).containsExactly(fixture.key);
        assertThat(fixture.changes).isEmpty();
    }

    @Test
    void pidsAreReusedByOthers_endIsUnknownAndTheOthersLive() throws IOException, InterruptedException {
        fixture.run("exec sleep 300");
        long supervisor = fixture.pid("supervisor");
        kill("KILL", -supervisor);
        kill("KILL", fixture.pid("command"));
        awaitEnd(supervisor);
        Files.deleteIfExists(fixture.instance(0).resolve("exit"));
        for (String file : new String[] {"supervisor", "command"}) {
            replace(file, "^\\d+", Long.toString(ProcessHandle.current().pid()));
        }

        fixture.restarted();
        fixture.stop(Duration.ZERO);

        assertUnknownEnd();
    }

    @Test
    void machineWasRestarted_endIsUnknown() throws IOException, InterruptedException {
        fixture.run("exec sleep 300");
        long supervisor = fixture.pid("supervisor");
        long command = fixture.pid("command");
        for (String file : new String[] {"supervisor", "command"}) {
            replace(file, "\\n.*", "\nanother-boot");
        }

        fixture.restarted();

        assertUnknownEnd();
        kill("KILL", command);
        awaitEnd(supervisor);
        assertUnknownEnd();
    }

    @Test
    void supervisorIsKilled_containerRunsOnAndOnlyItsExitCodeIsLost() throws IOException, InterruptedException {
        fixture.runUntilReady("echo ready; while [ ! -e end ]; do sleep 0.05; done; echo bye; exit 4");
        long supervisor = fixture.pid("supervisor");

        kill("KILL", supervisor);
        awaitEnd(supervisor);

        assertThat(fixture.isRunning()).isTrue();
        Files.createFile(fixture.instance(0).resolve("root/end"));
        fixture.awaitChange();
        assertUnknownEnd();
        Patience.await().until(() -> fixture.logs().equals("ready\nbye\n"));
    }

    @Test
    void startWasInterruptedByTheEndOfTheAgent_itsProcessesAreKilled() throws IOException, InterruptedException {
        fixture.run("exec sleep 300");
        long command = fixture.pid("command");
        Files.delete(fixture.instance(0).resolve("container.json"));

        fixture.restarted();

        awaitEnd(command);
        assertThat(fixture.runtime.status(fixture.pod).containers()).isEmpty();
    }

    @Test
    @ExpectedWarnings({
        "container.json is damaged (No content to map due to end-of-input); its container is unknown: what runs of it is"
                + " killed, and its output and exit code are deleted, now or before it is started again",
        "pod.json is damaged (Unexpected end-of-input: expected close marker for Object",
        "its pod is unknown until it is mounted again; if it no longer exists, end its processes and delete "
    })
    void filesAreDamaged_containerIsForgottenAndTheRuntimeStarts() throws IOException, InterruptedException {
        fixture.runToEnd("exit 6");
        Files.writeString(fixture.instance(0).resolve("exit"), "");
        fixture.restarted();
        assertUnknownEnd();

        Files.writeString(fixture.instance(0).resolve("container.json"), "");
        Files.writeString(fixture.directory.resolve("pods/uid-1/pod.json"), "{");
        fixture.restarted();

        assertThat(fixture.runtime.pods()).isEmpty();
        fixture.runToEnd("exit 7");
        assertThat(fixture.end().getExitCode()).isEqualTo(7);
        assertThat(fixture.runtime.pods()).containsExactly(fixture.key);
    }

    @Test
    @ExpectedWarnings("container.json is damaged")
    void fileOfARunningContainerIsDamaged_itIsKilledAndStartsAgain() throws IOException, InterruptedException {
        fixture.run("exec sleep 300");
        long command = fixture.pid("command");
        Files.writeString(fixture.instance(0).resolve("container.json"), "");

        fixture.restarted();

        awaitEnd(command);
        // of the runtime before
        fixture.awaitChange();
        assertThat(fixture.instance(0)).doesNotExist();
        assertThat(fixture.runToEnd("exit 7").getExitCode()).isEqualTo(7);
    }

    @Test
    void agentIsKilled_containerRunsOnAndTheNextAgentFindsIt() throws IOException, InterruptedException {
        KilledAgent.run(
                fixture.directory,
                "while [ ! -e end ]; do sleep 0.05; done; echo the agent is gone; exit 4",
                "echo started");

        fixture.restarted();

        assertThat(fixture.isRunning()).isTrue();
        Files.createFile(fixture.instance(0).resolve("root/end"));
        fixture.awaitChange();
        assertThat(fixture.end().getExitCode()).isEqualTo(4);
        assertThat(fixture.logs()).endsWith("the agent is gone\n");
    }
}
