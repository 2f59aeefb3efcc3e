package dev.podcache.kubelet.agent;

import static dev.podcache.kubelet.agent.ProcessFixture.launch;
import static dev.podcache.kubelet.agent.ProcessFixture.restart;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.kubelet.runtime.Launch;
import dev.podcache.kubelet.runtime.Launch.VolumeMountPoint;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The termination messages of processes, with the cases of {@code TestToKubeContainerStatus} and its neighbours upstream. */
@EnabledOnOs(OS.LINUX)
class ProcessTerminationTest extends OnProcesses {

    private static final String FILE = "File";
    private static final String FALLBACK = "FallbackToLogsOnError";
    private static final String TO_FILE = " >$PODCACHE_ROOT/dev/termination-log; ";

    private static Container container(String path, String policy) {
        return new ContainerBuilder(ProcessFixture.container("main"))
                .withTerminationMessagePath(path)
                .withTerminationMessagePolicy(policy)
                .build();
    }

    private @Nullable String message(String policy, String script) throws IOException, InterruptedException {
        return message(container("/dev/termination-log", policy), launch(Map.of(), "sh", "-c", script));
    }

    private @Nullable String message(Container container, Launch launch) throws IOException, InterruptedException {
        fixture.runtime.startContainer(fixture.pod, container, launch);
        fixture.awaitChange();
        return fixture.end().getMessage();
    }

    @Test
    void file_isTheMessage_whateverTheExitCode() throws IOException, InterruptedException {
        assertThat(message(FILE, "printf 'no database at db:5432'" + TO_FILE + "echo other; exit 3"))
                .isEqualTo("no database at db:5432");
        assertThat(message(FALLBACK, "printf done" + TO_FILE)).isEqualTo("done");
    }

    @Test
    void file_exists_beforeTheCommandBegins() throws IOException, InterruptedException {
        assertThat(message(FILE, "test -f $PODCACHE_ROOT/dev/termination-log && printf was-there" + TO_FILE))
                .isEqualTo("was-there");
    }

    @Test
    void file_longerThan4096Bytes_isItsEnd() throws IOException, InterruptedException {
        String message = message(
                FILE,
                "{ head -c 5000 /dev/zero | tr '\\0' a; head -c 4095 /dev/zero | tr '\\0' b; printf c; }" + TO_FILE);

        assertThat(message).isEqualTo("b".repeat(4095) + "c");
    }

    @Test
    void stopSignal_onlyWhatIsSent_isDeclared() {
        assertThat(fixture.runtime.stopSignal("SIGTERM")).isTrue();
        assertThat(fixture.runtime.stopSignal("SIGUSR1")).isFalse();
        assertThat(fixture.runtime.hostAliases()).isFalse();
        assertThat(fixture.runtime.dnsConfig()).isFalse();
    }

    @Test
    void noFile_isNoMessage() throws IOException, InterruptedException {
        assertThat(message(FILE, "echo lost; exit 1")).isNull();
        assertThat(message(FALLBACK, "echo fine; exit 0")).isNull();
        assertThat(message(container("", FILE), launch(Map.of(), "sh", "-c", "exit 1")))
                .isNull();
    }

    @Test
    void fallback_failedWithoutMessage_isTheEndOfTheOutput() throws IOException, InterruptedException {
        assertThat(message(FALLBACK, "for i in $(seq 1 100); do echo line $i; done; exit 1"))
                .isEqualTo(IntStream.rangeClosed(21, 100)
                        .mapToObj(i -> "line " + i + "\n")
                        .collect(Collectors.joining()));
    }

    @Test
    void fallback_longLines_areCutTo2048Bytes() throws IOException, InterruptedException {
        String message = message(FALLBACK, "head -c 100000 /dev/zero | tr '\\0' a; echo; echo end; exit 1");

        assertThat(message).hasSize(2048).endsWith("aaa\nend\n");
    }

    @Test
    void startedAgain_lastStateKeepsItsMessage() throws IOException, InterruptedException {
        Container container = container("/dev/termination-log", FALLBACK);
        fixture.runtime.startContainer(fixture.pod, container, restart(0, "printf first" + TO_FILE + "exit 1"));
        fixture.awaitChange();
        assertThat(fixture.end().getMessage()).isEqualTo("first");

        fixture.runtime.startContainer(fixture.pod, container, restart(1, "echo second; exit 1"));
        fixture.awaitChange();

        assertThat(fixture.end().getMessage()).isEqualTo("second\n");
        assertThat(fixture.status().getLastState().getTerminated().getMessage()).isEqualTo("first");
    }

    @Test
    void restartedAgent_hasTheMessage() throws IOException, InterruptedException {
        fixture.runtime.startContainer(
                fixture.pod,
                container("/var/run/why", FILE),
                launch(Map.of(), "sh", "-c", "printf why >$PODCACHE_ROOT/var/run/why; exit 1"));
        fixture.awaitChange();

        fixture.restarted();

        assertThat(fixture.end().getMessage()).isEqualTo("why");
    }

    /** What a container puts in the place of its file must not be read: another file, a pipe that blocks, a folder. */
    @ParameterizedTest
    @ValueSource(strings = {"ln -sf /etc/passwd", "mkfifo", "mkdir"})
    void fileReplaced_isNoMessage(String by) throws IOException, InterruptedException {
        assertThat(message(
                        FILE,
                        "rm $PODCACHE_ROOT/dev/termination-log; " + by + " $PODCACHE_ROOT/dev/termination-log; exit 1"))
                .isNull();
    }

    @Test
    void folderReplacedByAFile_isNoMessage() throws IOException, InterruptedException {
        assertThat(message(FILE, "rm -r $PODCACHE_ROOT/dev; echo x >$PODCACHE_ROOT/dev; exit 3"))
                .isNull();
    }

    @Test
    void folderReplacedByALink_isNoMessage() throws IOException, InterruptedException {
        Path outside = Files.createDirectory(directory.resolve("outside"));
        Files.writeString(outside.resolve("termination-log"), "secret");

        assertThat(message(FILE, "rm -r $PODCACHE_ROOT/dev; ln -s " + outside + " $PODCACHE_ROOT/dev; exit 1"))
                .isNull();
    }

    @Test
    void pathInAMount_isNoMessageAndTheVolumeStaysAsItIs() throws IOException, InterruptedException {
        Launch launch =
                launch("", Map.of(), List.of(new VolumeMountPoint("data", "/data", "", false)), "sh", "-c", "exit 1");

        assertThat(message(container("/data/why", FILE), launch)).isNull();
        assertThat(fixture.instance(0).resolve("root/data/why").toFile().exists())
                .isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/../../why", "/", "/."})
    void pathAboveOrAtTheRoot_isNoMessage(String path) throws IOException, InterruptedException {
        assertThat(message(container(path, FILE), launch(Map.of(), "sh", "-c", "exit 1")))
                .isNull();
    }
}
