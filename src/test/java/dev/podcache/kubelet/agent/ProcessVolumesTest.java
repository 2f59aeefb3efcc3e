package dev.podcache.kubelet.agent;

import static dev.podcache.kubelet.agent.ProcessFixture.launch;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.common.base.Throwables;
import dev.podcache.kubelet.runtime.Launch.VolumeMountPoint;
import dev.podcache.kubelet.runtime.VolumeFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Volumes and working directories of processes. */
@EnabledOnOs(OS.LINUX)
class ProcessVolumesTest extends OnProcesses {

    private static final VolumeMountPoint TLS = new VolumeMountPoint("tls", "/etc/tls", "", true);

    private void mount(String value) throws IOException {
        VolumeFile file = VolumeFile.of(value.getBytes(StandardCharsets.UTF_8), 0644);
        fixture.runtime.mount(fixture.pod, Map.of("tls", Map.of("key", file)));
    }

    private void start(String workingDirectory, List<VolumeMountPoint> mounts, String script)
            throws IOException, InterruptedException {
        fixture.start(launch(workingDirectory, Map.of(), mounts, "sh", "-c", script));
    }

    @Test
    void secret_isBelowTheRootAtItsPath() throws IOException, InterruptedException {
        mount("first");

        start("", List.of(TLS), "cat etc/tls/key $PODCACHE_ROOT/etc/tls/key");
        fixture.awaitChange();

        assertThat(fixture.logs()).isEqualTo("firstfirst\n");
    }

    @Test
    void secretChanges_runningContainerSeesIt() throws IOException, InterruptedException {
        mount("first");
        start("", List.of(TLS), "while grep -q first etc/tls/key; do sleep 0.05; done; cat etc/tls/key");

        mount("second");
        fixture.awaitChange();

        assertThat(fixture.logs()).isEqualTo("second\n");
    }

    @Test
    void subPath_isThatPartOfTheVolume() throws IOException, InterruptedException {
        mount("first");

        start("", List.of(new VolumeMountPoint("tls", "/app/server.key", "key", true)), "cat app/server.key");
        fixture.awaitChange();

        assertThat(fixture.logs()).isEqualTo("first\n");
    }

    @Test
    void emptyDir_isSharedByTheContainersOfThePod() throws IOException, InterruptedException {
        fixture.runtime.mount(fixture.pod, Map.of());
        List<VolumeMountPoint> mounts = List.of(new VolumeMountPoint("data", "/data", "", false));
        start("", mounts, "echo kept >data/file");
        fixture.awaitChange();

        start("/data", mounts, "cat file");
        fixture.awaitChange();

        assertThat(fixture.logs()).isEqualTo("kept\n");
    }

    @Test
    void workingDirectory_isBelowTheRoot() throws IOException, InterruptedException {
        start("/srv/app", List.of(), "pwd -P");
        fixture.awaitChange();

        assertThat(fixture.logs().trim())
                .isEqualTo(
                        fixture.instance(0).toRealPath().resolve("root/srv/app").toString());
    }

    @Test
    void workingDirectory_leadsAboveTheRoot_isRefused() {
        assertThatThrownBy(() -> start("/../../..", List.of(), "true"))
                .isInstanceOf(IOException.class)
                .hasMessage("workingDir must not lead above /, but is /../../..");
    }

    @Test
    void mountPath_leadsAboveTheRoot_isRefused() throws IOException {
        mount("first");

        assertThatThrownBy(() -> start("", List.of(new VolumeMountPoint("tls", "/a/../../b", "", true)), "true"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("/a/../../b");
    }

    @Test
    void mountPaths_containEachOther_areRefused() throws IOException {
        mount("first");
        fixture.runtime.mount(fixture.pod, Map.of());
        VolumeMountPoint inner = new VolumeMountPoint("data", "/etc/tls/data", "", false);
        VolumeMountPoint outer = new VolumeMountPoint("data", "/etc", "", false);

        for (VolumeMountPoint other : List.of(inner, outer)) {
            assertThatThrownBy(() -> start("", List.of(TLS, other), "true"))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(other.path())
                    .hasMessageContaining("must not contain each other");
        }
        assertThat(fixture.runtime.status(fixture.pod).containers()).isEmpty();
    }

    /** The target of a link may be named by a Secret. */
    @Test
    void mountThatCannotBeLinked_isNamedWithoutTheValueOfItsExpression() {
        VolumeMountPoint mount = new VolumeMountPoint("data", "/" + "x".repeat(300), "hunter2", false, "$(PASSWORD)");
        assertThatThrownBy(() -> {
                    fixture.runtime.mount(fixture.pod, Map.of());
                    start("", List.of(mount), "true");
                })
                .isInstanceOf(IOException.class)
                .hasMessageContaining("volume data cannot be mounted")
                .satisfies(e -> assertThat(Throwables.getStackTraceAsString(e)).doesNotContain("hunter2"));
    }

    @Test
    void memoryDirectory_holdsSecrets() throws IOException, InterruptedException {
        Path shm = Path.of("/dev/shm");
        assumeTrue(Files.isWritable(shm) && Files.getFileStore(shm).type().equals("tmpfs"), "no tmpfs at /dev/shm");
        Path memory = Files.createTempDirectory(shm, "podcache");
        fixture.restarted(
                ProcessRuntime.builder(fixture.directory, fixture.timekeeper).memory(memory));

        mount("first");

        assertThat(memory.resolve("uid-1/volumes/tls/key")).hasContent("first");
        assertThat(fixture.directory.resolve("pods/uid-1/volumes/tls")).doesNotExist();
        fixture.runtime.forget(fixture.key);
        assertThat(memory).isEmptyDirectory();
        Files.delete(memory);
    }

    @Test
    void memoryDirectory_onADisk_isRefused() {
        Path disk = Path.of("/proc");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ProcessRuntime.builder(fixture.directory, fixture.timekeeper)
                        .memory(disk)
                        .build())
                .withMessageContaining("the memory directory");
    }
}
