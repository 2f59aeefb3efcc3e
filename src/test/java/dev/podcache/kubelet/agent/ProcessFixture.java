package dev.podcache.kubelet.agent;

import com.google.common.io.ByteStreams;
import dev.podcache.kubelet.runtime.ContainerExec.ContainerProcess;
import dev.podcache.kubelet.runtime.ContainerLogs.LogOptions;
import dev.podcache.kubelet.runtime.Launch;
import dev.podcache.kubelet.runtime.Launch.VolumeMountPoint;
import dev.podcache.kubelet.runtime.RuntimeEvents;
import dev.podcache.object.PodKey;
import dev.podcache.pod.PodReferences;
import dev.podcache.testing.Patience;
import dev.podcache.testing.Pods;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.ContainerStateTerminated;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A runtime for one pod with the container {@code main}, on real processes. */
final class ProcessFixture implements AutoCloseable {

    static final LogOptions FOLLOW = new LogOptions(true, false, false, OptionalLong.empty(), Optional.empty());

    final Timekeeper timekeeper = Timekeeper.system();
    final BlockingQueue<String> changes = new LinkedBlockingQueue<>();
    final Path directory;
    final Pod pod;
    final PodKey key;
    ProcessRuntime runtime;

    ProcessFixture(Path directory) {
        this.directory = directory;
        this.pod = new PodBuilder(Pods.withSecrets("shop", "web", "uid-1"))
                .editSpec()
                .addNewVolume()
                .withName("tls")
                .withNewSecret()
                .endSecret()
                .endVolume()
                .addNewVolume()
                .withName("data")
                .withNewEmptyDir()
                .endEmptyDir()
                .endVolume()
                .endSpec()
                .build();
        this.key = PodReferences.key(pod);
        this.runtime = restarted();
    }

    /** Replaces the runtime by a new one on the same directory, as after a restart of the agent. */
    ProcessRuntime restarted() {
        return restarted(ProcessRuntime.builder(directory, timekeeper));
    }

    ProcessRuntime restarted(ProcessRuntime.Builder options) {
        changes.clear();
        runtime = options.build();
        runtime.listen(new RuntimeEvents() {
            @Override
            public void changed(String podUid) {
                changes.add(podUid);
            }

            @Override
            public void healthChanged() {}
        });
        return runtime;
    }

    static Container container(String name) {
        return new ContainerBuilder().withName(name).withImage("none").build();
    }

    static Launch launch(Map<String, String> environment, String... command) {
        return launch("", environment, List.of(), command);
    }

    static Launch launch(
            String workingDirectory,
            Map<String, String> environment,
            List<VolumeMountPoint> mounts,
            String... command) {
        return new Launch(List.of(command), List.of(), workingDirectory, environment, mounts, List.of(), 0);
    }

    static Launch restart(int count, String script) {
        return new Launch(List.of("sh", "-c", script), List.of(), "", Map.of(), List.of(), List.of(), count);
    }

    /** Starts the container with a script. */
    void run(String script) throws IOException, InterruptedException {
        start(launch(Map.of(), "sh", "-c", script));
    }

    void start(Launch launch) throws IOException, InterruptedException {
        runtime.startContainer(pod, container("main"), launch);
    }

    /** Starts the container with a script that says {@code ready}, and waits for that. */
    void runUntilReady(String script) throws IOException, InterruptedException {
        run(script);
        awaitLine("ready");
    }

    void awaitLine(String expected) throws IOException {
        try (BufferedReader lines = reader(runtime.logs(key, "main", FOLLOW))) {
            if (lines.lines().noneMatch(expected::equals)) {
                throw new AssertionError("the container ended without the line " + expected);
            }
        }
    }

    static BufferedReader reader(InputStream stream) {
        return new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8));
    }

    /** Waits until the runtime says that the pod has changed. */
    void awaitChange() throws InterruptedException {
        Objects.requireNonNull(changes.poll(Patience.SECONDS, TimeUnit.SECONDS), "no change within the time limit");
    }

    /** Runs a script until it has ended and returns how. */
    ContainerStateTerminated runToEnd(String script) throws IOException, InterruptedException {
        run(script);
        awaitChange();
        return end();
    }

    void stop(Duration gracePeriod) throws IOException, InterruptedException {
        runtime.stopContainer(key, "main", gracePeriod);
    }

    ContainerStatus status() {
        return runtime.status(pod).containers().get(0);
    }

    boolean isRunning() {
        return status().getState().getRunning() != null;
    }

    ContainerStateTerminated end() {
        return Objects.requireNonNull(status().getState().getTerminated(), "the container has not ended");
    }

    String logs() throws IOException {
        return logs(LogOptions.ALL);
    }

    String logs(LogOptions options) throws IOException {
        try (InputStream logs = runtime.logs(key, "main", options)) {
            return new String(logs.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /** Runs a script in the container and returns its standard output. */
    String exec(String script) throws IOException {
        try (ContainerProcess process = runtime.exec(key, "main", List.of("sh", "-c", script), false)) {
            return new String(ByteStreams.toByteArray(process.stdout()), StandardCharsets.UTF_8);
        }
    }

    /** Returns the directory of a start of the container, counted from 0. */
    Path instance(int number) {
        return directory.resolve("pods/uid-1/containers/main/" + number);
    }

    /** Returns the PID in one of the files {@code supervisor} and {@code command} of the first start. */
    long pid(String file) throws IOException {
        String stat = Files.readString(instance(0).resolve(file));
        return Long.parseLong(stat.substring(0, stat.indexOf(' ')));
    }

    static void kill(String signal, long pid) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-" + signal, "--", Long.toString(pid))
                .start()
                .waitFor();
    }

    /** Whether a process runs. One that has ended does not, even if its parent has not noticed yet, which takes some seconds. */
    static boolean isAlive(long pid) {
        try {
            String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"), StandardCharsets.ISO_8859_1);
            // the state follows the name, which may contain parentheses
            return stat.charAt(stat.lastIndexOf(')') + 2) != 'Z';
        } catch (IOException gone) {
            return false;
        }
    }

    static void awaitEnd(long pid) {
        Patience.await().until(() -> !isAlive(pid));
    }

    @Override
    public void close() throws IOException {
        try {
            runtime.stopPod(key, Duration.ZERO);
        } catch (InterruptedException e) {
            throw new AssertionError("the test was interrupted", e);
        } finally {
            timekeeper.close();
        }
    }
}
