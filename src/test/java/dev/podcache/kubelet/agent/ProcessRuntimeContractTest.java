package dev.podcache.kubelet.agent;

import dev.podcache.kubelet.podconfig.VolumeDirectory;
import dev.podcache.kubelet.runtime.ContainerLogs.LogOptions;
import dev.podcache.kubelet.runtime.Launch;
import dev.podcache.kubelet.runtime.Launch.VolumeMountPoint;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.pod.PodReferences;
import dev.podcache.testing.PodRuntimeContract;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@EnabledOnOs(OS.LINUX)
class ProcessRuntimeContractTest extends PodRuntimeContract {

    private final Timekeeper timekeeper = Timekeeper.system();

    @TempDir
    private Path directory;

    @AfterEach
    void tearDown() {
        timekeeper.close();
    }

    @Override
    protected PodRuntime runtime() {
        return ProcessRuntime.in(directory, timekeeper);
    }

    @Override
    protected Launch launch(boolean ends) {
        return ProcessFixture.launch(Map.of(), "sleep", ends ? "0.2" : "300");
    }

    @Override
    protected Optional<Launch> lingering(Duration toEnd) {
        String script = "trap 'sleep " + toEnd.toSeconds() + "; exit " + LINGERED + "' TERM; echo ready; "
                + "while :; do sleep 0.05; done";
        return Optional.of(ProcessFixture.launch(Map.of(), "sh", "-c", script));
    }

    /** A shell without its trap ends at once. */
    @Override
    protected boolean isReadyToLinger(PodRuntime runtime, Pod pod) throws IOException {
        try (InputStream logs = ((ProcessRuntime) runtime).logs(PodReferences.key(pod), "main", LogOptions.ALL)) {
            return new String(logs.readAllBytes(), StandardCharsets.UTF_8).contains("ready");
        }
    }

    @Override
    protected PodRuntime afterRestart(PodRuntime before) {
        return runtime();
    }

    @Override
    protected @Nullable String file(Pod pod, String volume, String path) throws IOException {
        Path file = new VolumeDirectory(directory.resolve("pods"), timekeeper)
                .path(pod, new VolumeMountPoint(volume, "/v", "", true))
                .resolve(path);
        return Files.exists(file) ? Files.readString(file) : null;
    }
}
