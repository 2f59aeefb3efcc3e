package dev.podcache.kubelet.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.podcache.kubelet.runtime.ContainerStatistics.PodUsage;
import dev.podcache.kubelet.runtime.ContainerStatistics.VolumeUsage;
import dev.podcache.kubelet.runtime.Launch.VolumeMountPoint;
import dev.podcache.testing.Patience;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** What evictions need of containers that are processes: what they use, whom Linux kills first, what can be deleted. */
@EnabledOnOs(OS.LINUX)
class ProcessPressureTest extends OnProcesses {

    @Test
    void usage_volumesFilesAndProcesses_areCounted() throws IOException, InterruptedException {
        fixture.runtime.mount(fixture.pod, Map.of());
        fixture.start(
                ProcessFixture.launch(
                        "",
                        Map.of(),
                        List.of(new VolumeMountPoint("data", "/data", "", false)),
                        "sh",
                        "-c",
                        "mkdir d; >d/a; >b; head -c 5000 /dev/zero >$PODCACHE_ROOT/data/file; sleep 300 & sleep 300 & echo ready; wait"));
        fixture.awaitLine("ready");

        List<PodUsage> usage = fixture.runtime.usage();
        assertThat(usage).hasSize(1);
        assertThat(usage.get(0).processes()).isEqualTo(3);
        assertThat(usage.get(0).volumes())
                .filteredOn(volume -> volume.name().equals("data"))
                .extracting(VolumeUsage::usedBytes, VolumeUsage::inodes)
                .containsExactly(tuple(5000L, 2L));
        // the root, the directory, two files, and the link to the volume
        assertThat(usage.get(0).containers().get(0).diskInodes()).isEqualTo(5);
        assertThat(usage.get(0).containers().get(0).logInodes()).isEqualTo(1);
    }

    @Test
    void start_bestEffortPod_isTheFirstThatLinuxKills() throws IOException, InterruptedException {
        fixture.runUntilReady("sleep 300 & echo ready; wait");
        assertThat(Path.of("/proc", Long.toString(fixture.pid("command")), "oom_score_adj"))
                .hasContent("1000");
        String own = Files.readString(Path.of("/proc/self/oom_score_adj"));
        assertThat(Path.of("/proc", Long.toString(fixture.pid("supervisor")), "oom_score_adj"))
                .hasContent(own);
    }

    @Test
    void deleteUnusedContainers_ended_keepsTheLastOutputAndState() throws IOException, InterruptedException {
        fixture.runToEnd("echo first; >file");
        fixture.start(ProcessFixture.restart(1, "echo second; >file"));
        fixture.awaitChange();
        assertThat(fixture.instance(1).resolve("root/file")).exists();

        fixture.runtime.deleteUnusedContainers();

        assertThat(fixture.instance(0)).doesNotExist();
        assertThat(fixture.instance(1).resolve("root")).doesNotExist();
        assertThat(fixture.end().getExitCode()).isZero();
        assertThat(fixture.logs()).contains("second");
    }

    @Test
    void deleteUnusedContainers_running_keepsItsFiles() throws IOException, InterruptedException {
        fixture.runUntilReady(">file; sleep 300 & echo ready; wait");
        fixture.runtime.deleteUnusedContainers();
        fixture.runtime.deleteUnusedImages();
        assertThat(fixture.instance(0).resolve("root/file")).exists();
        assertThat(fixture.isRunning()).isTrue();
        Patience.await().until(() -> !fixture.runtime.usage().isEmpty());
    }
}
