package dev.podcache.kubelet.process;

import com.google.common.collect.Streams;
import com.google.common.io.Resources;
import dev.podcache.kubelet.eviction.OomScoreAdjust;
import dev.podcache.kubelet.podconfig.VolumeDirectory;
import dev.podcache.kubelet.runtime.Launch;
import dev.podcache.object.Quoted;
import dev.podcache.pod.PodReferences;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.regex.Pattern;

/** Starts containers: each is a {@code supervise.sh} with a session of its own, which outlives the agent. Thread-safe. */
public final class ContainerStarter {

    private static final String SCRIPT = "supervise.sh";
    private static final String DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

    /** The names of variables that a shell passes on. */
    private static final Pattern VARIABLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

    private final PodDirectories pods;
    private final VolumeDirectory volumes;
    private final Path script;
    private final long outputLimit;
    private final Timekeeper timekeeper;

    /**
     * Creates a starter.
     *
     * @param directory of the runtime, absolute
     * @param outputLimit the size of an output file in bytes; of each container, two are kept
     */
    public ContainerStarter(
            Path directory, PodDirectories pods, VolumeDirectory volumes, long outputLimit, Timekeeper timekeeper) {
        this.pods = pods;
        this.volumes = volumes;
        this.script = directory.resolve(SCRIPT);
        this.outputLimit = outputLimit;
        this.timekeeper = timekeeper;
    }

    /** Writes {@code supervise.sh} to the directory, which is created when needed. A shell that runs an earlier version keeps it open. */
    public void install() throws IOException {
        Files.createDirectories(Objects.requireNonNull(script.getParent()));
        Path unfinished = script.resolveSibling(SCRIPT + ".new");
        Files.write(unfinished, Resources.toByteArray(Resources.getResource(ContainerStarter.class, SCRIPT)));
        Files.move(unfinished, script, StandardCopyOption.ATOMIC_MOVE);
    }

    /**
     * Starts a container, of which no other instance may run. Returns when its command is executed. If the call fails,
     * the container does not run and leaves no trace.
     *
     * @throws IOException if the container could not be started; the message contains no values of variables
     * @throws InterruptedException if the thread is interrupted
     */
    public ContainerInstance start(Pod pod, Container container, Launch launch)
            throws IOException, InterruptedException {
        check(container, launch);
        Path directory = pods.next(PodReferences.key(pod), container.getName());
        try {
            Path root = ContainerInstance.root(directory);
            Path working = ContainerRoot.create(root, launch, mount -> volumes.path(pod, mount));
            ContainerRecord started = new ContainerRecord(
                    "process://" + UUID.randomUUID(),
                    String.valueOf(container.getImage()),
                    launch.restartCount(),
                    timekeeper.wallTime().toEpochMilli(),
                    working.toString());
            run(directory, working, launch, OomScoreAdjust.of(pod, container, MachineMemory.bytes()));
            if (Thread.interrupted()) {
                throw new InterruptedException("the container was stopped while it started");
            }
            JsonFile.write(directory.resolve(ContainerInstance.RECORD), started);
            return new ContainerInstance(container.getName(), directory, started);
        } catch (ClosedByInterruptException e) {
            // clears the flag, with which no file can be read
            boolean interrupted = Thread.interrupted();
            ContainerInstance.discard(directory);
            throw new InterruptedException("interrupted while the container started: " + interrupted);
        } catch (IOException | InterruptedException | RuntimeException e) {
            ContainerInstance.discard(directory);
            throw e;
        }
    }

    private static void check(Container container, Launch launch) throws IOException {
        if (launch.command().isEmpty()) {
            throw new IOException("container " + container.getName() + " has no command; the process runtime uses no"
                    + " images, so the pod's spec must have one");
        }
        for (Map.Entry<String, String> variable : launch.environment().entrySet()) {
            // the message of ProcessBuilder would contain the value
            if (variable.getValue().indexOf('\0') >= 0) {
                throw new IOException("environment variable " + Quoted.value(variable.getKey())
                        + " contains a zero byte, which no process can receive; mount it as a file instead");
            }
        }
    }

    private void run(Path directory, Path working, Launch launch, int oomScoreAdjust) throws IOException {
        Path errors = directory.resolve("errors");
        ProcessBuilder builder = new ProcessBuilder(arguments(directory, launch, oomScoreAdjust))
                .directory(working.toFile())
                .redirectInput(new File("/dev/null"))
                .redirectError(errors.toFile());
        Map<String, String> environment = builder.environment();
        environment.clear();
        launch.environment().forEach((name, value) -> {
            if (VARIABLE.matcher(name).matches()) {
                environment.put(name, value);
            }
        });
        environment.put("PATH", DEFAULT_PATH);
        environment.put(
                ContainerProcesses.VARIABLE, ContainerInstance.root(directory).toString());
        try (BufferedReader ready = builder.start().inputReader()) {
            if (ready.readLine() == null) {
                throw new IOException("supervise.sh failed: " + Quoted.text(Files.readString(errors)));
            }
        }
    }

    private List<String> arguments(Path directory, Launch launch, int oomScoreAdjust) throws IOException {
        String uptime = Files.readString(Path.of("/proc/uptime"), StandardCharsets.US_ASCII);
        long sinceBoot = Long.parseLong(uptime.substring(0, uptime.indexOf(' ')).replace(".", ""));
        long boot = OutputLine.hundredths(timekeeper.wallTime()) - sinceBoot;
        List<String> supervisor = List.of(
                "setsid",
                "sh",
                script.toString(),
                directory.toString(),
                Long.toString(boot),
                Long.toString(outputLimit),
                launch.environment().getOrDefault("PATH", DEFAULT_PATH),
                Integer.toString(oomScoreAdjust));
        return Streams.concat(supervisor.stream(), launch.command().stream(), launch.args().stream())
                .toList();
    }
}
