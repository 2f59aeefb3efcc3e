package dev.podcache.kubelet.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.common.collect.ImmutableSet;
import dev.podcache.kubelet.runtime.ContainerLogs.LogOptions;
import dev.podcache.object.PodKey;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import dev.podcache.testing.Pods;
import io.fabric8.kubernetes.api.model.ContainerStateTerminated;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The folder of {@code --processes} across versions. {@code src/test/resources/processes} has one folder for each minor
 * version, as that version wrote it: pod {@code web} ended with 6, was restarted and ended with 7; of pod {@code killed},
 * the machine was switched off. A change of the layout adds the folder of its version, and leaves the one before as
 * it is until the minor version after.
 */
@EnabledOnOs(OS.LINUX)
@ExtendWith(NoLeaks.class)
class ProcessFolderVersionsTest {

    private static final Path VERSIONS = Path.of("src/test/resources/processes");
    private static final Path MAIN = Path.of("pods/uid-1/containers/main");
    private static final LogOptions PREVIOUS =
            new LogOptions(false, true, false, OptionalLong.empty(), Optional.empty());

    /** The PID and the start time, as {@code /proc} has them, and the boot of the machine. */
    private static final String IDENTITY = "\\d+ \\(.+\\) \\S( -?\\d+){49}\n[0-9a-f-]{36}\n";

    @TempDir
    private Path temp;

    static List<Path> versions() throws IOException {
        try (Stream<Path> folders = Files.list(VERSIONS)) {
            return folders.sorted().toList();
        }
    }

    private ProcessFixture open(Path version) throws IOException {
        Path copy = temp.resolve("copy");
        try (Stream<Path> files = Files.walk(version)) {
            for (Path file : files.toList()) {
                Files.copy(file, copy.resolve(version.relativize(file).toString()));
            }
        }
        return new ProcessFixture(copy);
    }

    @ParameterizedTest
    @MethodSource("versions")
    void endedContainer_isRead_andStartedAgain(Path version) throws Exception {
        try (ProcessFixture fixture = open(version)) {
            assertThat(fixture.runtime.pods())
                    .containsExactlyInAnyOrder(fixture.key, PodKey.of("shop", "killed", "uid-2"));
            ContainerStatus status = fixture.status();
            assertThat(status.getContainerID()).isEqualTo("process://ef56f11e-4db7-492f-b1bc-c9f79ac7dce1");
            assertThat(status.getRestartCount()).isEqualTo(1);
            ContainerStateTerminated end = fixture.end();
            assertThat(end.getExitCode()).isEqualTo(7);
            assertThat(end.getStartedAt()).isEqualTo("2026-11-25T13:06:57Z");
            assertThat(end.getFinishedAt()).isEqualTo("2026-11-25T13:06:57Z");
            assertThat(status.getLastState().getTerminated().getExitCode()).isEqualTo(6);
            assertThat(fixture.logs()).isEqualTo("second\ntwo\n");
            assertThat(fixture.logs(PREVIOUS)).isEqualTo("first\n");

            fixture.start(ProcessFixture.restart(2, "exit 8"));
            fixture.awaitChange();

            assertThat(fixture.end().getExitCode()).isEqualTo(8);
            assertThat(fixture.status().getRestartCount()).isEqualTo(2);
            assertThat(fixture.status().getLastState().getTerminated().getExitCode())
                    .isEqualTo(7);
        }
    }

    @ParameterizedTest
    @MethodSource("versions")
    void containerOfAnEarlierBoot_endedForAnUnknownReason(Path version) throws Exception {
        try (ProcessFixture fixture = open(version)) {
            ContainerStatus status = fixture.runtime
                    .status(Pods.withSecrets("shop", "killed", "uid-2"))
                    .containers()
                    .get(0);

            assertThat(status.getState().getTerminated().getReason()).isEqualTo("ContainerStatusUnknown");
        }
    }

    @ParameterizedTest
    @MethodSource("versions")
    void runningContainer_isFound(Path version) throws Exception {
        try (ProcessFixture fixture = open(version)) {
            Process running = new ProcessBuilder("sleep", "300").start();
            try {
                Files.delete(fixture.instance(1).resolve("exit"));
                Files.writeString(
                        fixture.instance(1).resolve("command"),
                        Files.readString(Path.of("/proc/" + running.pid() + "/stat"))
                                + Files.readString(Path.of("/proc/sys/kernel/random/boot_id")));

                assertThat(fixture.isRunning()).isTrue();
            } finally {
                running.destroyForcibly().waitFor();
            }
            Patience.await().until(() -> !fixture.isRunning());
        }
    }

    /** What this version writes is what the newest folder has, so that a version which reads that folder reads ours. */
    @Test
    void folderOfThisVersion_isLikeTheNewest() throws Exception {
        Path newest = versions().get(versions().size() - 1);
        try (ProcessFixture fixture = new ProcessFixture(temp.resolve("written"))) {
            fixture.runToEnd("echo first; exit 6");
            Path ended = fixture.instance(0);

            Path before = newest.resolve(MAIN).resolve("0");
            assertThat(files(ended)).containsAll(files(before));
            assertThat(fields(ended.resolve("container.json"))).containsAll(fields(before.resolve("container.json")));
            Path pod = Path.of("pods/uid-1/pod.json");
            assertThat(fields(fixture.directory.resolve(pod))).isEqualTo(fields(newest.resolve(pod)));
            for (Path instance : List.of(ended, before)) {
                assertThat(instance.resolve("supervisor")).content().matches(IDENTITY);
                assertThat(instance.resolve("command")).content().matches(IDENTITY);
                assertThat(instance.resolve("exit")).content().matches("6 \\d{12}\n");
                assertThat(instance.resolve("output.0")).content().matches("\\d{12} first\n");
            }
        }
    }

    private static Set<String> files(Path directory) {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString()).collect(Collectors.toSet());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Set<String> fields(Path json) throws IOException {
        JsonNode read = new ObjectMapper().readTree(json.toFile());
        return ImmutableSet.copyOf(read.fieldNames());
    }
}
