package dev.podcache.kubelet.process;

import com.google.common.base.Strings;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.Iterables;
import com.google.common.io.Resources;
import dev.podcache.kubelet.eviction.OomScoreAdjust;
import dev.podcache.kubelet.podconfig.VolumeDirectory;
import dev.podcache.kubelet.runtime.ByteText;
import dev.podcache.kubelet.runtime.Launch;
import dev.podcache.object.Quoted;
import dev.podcache.pod.PodReferences;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.ClosedByInterruptException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Starts containers: each is a {@code supervise.sh} with a session of its own, which outlives the agent. Thread-safe. */
public final class ContainerStarter {

    private static final Logger log = LoggerFactory.getLogger(ContainerStarter.class);
    private static final String FALLBACK = "FallbackToLogsOnError";
    private static final String HOSTNAME = "HOSTNAME";
    private static final String SCRIPT = "supervise.sh";
    static final String DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

    /** What a variable or an argument has at most, with its zero byte: the kernel's MAX_ARG_STRLEN. */
    private static final int LONGEST = 128 << 10;

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
                    working.toString(),
                    Strings.nullToEmpty(container.getTerminationMessagePath()),
                    FALLBACK.equals(container.getTerminationMessagePolicy()));
            TerminationMessage.prepare(root, started.messagePath());
            Map<String, String> environment =
                    run(directory, working, launch, OomScoreAdjust.of(pod, container, MachineMemory.bytes()));
            if (Thread.interrupted()) {
                throw new InterruptedException("the container was stopped while it started");
            }
            JsonFile.write(directory.resolve(ContainerInstance.RECORD), started);
            return new ContainerInstance(container.getName(), directory, started, environment);
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
        // no message contains a value
        for (Map.Entry<String, String> variable : launch.environment().entrySet()) {
            requirePossible(
                    "environment variable " + Quoted.value(variable.getKey()),
                    variable.getKey() + "=" + variable.getValue());
        }
        int number = 0;
        for (String word : Iterables.concat(launch.command(), launch.args())) {
            requirePossible("word " + number++ + " of the command", word);
        }
        if (launch.command().get(0).indexOf('=') >= 0 && LaunchScript.needsEnv(launch.environment())) {
            throw new IOException("container " + container.getName() + " has a command with = in its name and variables"
                    + " whose names no shell knows; use sh -c");
        }
    }

    private static void requirePossible(String what, String text) throws IOException {
        if (text.indexOf('\0') >= 0) {
            throw new IOException(
                    what + " contains a zero byte, which no process can receive; mount it as a file instead");
        }
        if (ByteText.bytes(text).length >= LONGEST) {
            throw new IOException(what + " is longer than " + (LONGEST >> 10)
                    + " KiB, which no process can receive; mount it as a file instead");
        }
    }

    /** Starts the command and returns its environment, but for what shells set. */
    private Map<String, String> run(Path directory, Path working, Launch launch, int oomScoreAdjust)
            throws IOException {
        Path errors = directory.resolve("errors");
        ProcessBuilder builder = new ProcessBuilder(arguments(directory, oomScoreAdjust))
                .directory(working.toFile())
                .redirectError(errors.toFile());
        builder.environment().clear();
        builder.environment().put("PATH", DEFAULT_PATH);
        // so that what is left of it is found
        String root = ContainerInstance.root(directory).toString();
        builder.environment().put(ContainerProcesses.VARIABLE, root);
        builder.environment().put(ContainerProcesses.LAUNCHING, "1");
        Map<String, String> environment = new LinkedHashMap<>(launch.environment());
        if (!launch.hostname().isEmpty()) {
            environment.putIfAbsent(HOSTNAME, launch.hostname());
        }
        environment.putIfAbsent("PATH", DEFAULT_PATH);
        environment.put(ContainerProcesses.VARIABLE, root);
        // a container's own would look like a command that has not begun
        environment.remove(ContainerProcesses.LAUNCHING);
        List<String> command = ImmutableList.copyOf(Iterables.concat(launch.command(), launch.args()));
        String before = "unset " + ContainerProcesses.LAUNCHING + "; echo started >&3; exec 2>&1 3>&- </dev/null";
        byte[] script = LaunchScript.of(before, environment, command);
        Process supervisor = builder.start();
        try (BufferedReader ready = supervisor.inputReader()) {
            try (OutputStream in = supervisor.getOutputStream()) {
                in.write(script);
            } catch (IOException brokenPipe) {
                log.debug("supervise.sh ended early; its errors say why", brokenPipe);
            }
            if (ready.readLine() == null) {
                throw new IOException(
                        "supervise.sh failed: " + Quoted.text(Files.readString(errors, StandardCharsets.ISO_8859_1)));
            }
        }
        return environment;
    }

    private List<String> arguments(Path directory, int oomScoreAdjust) throws IOException {
        return List.of(
                "setsid",
                "sh",
                script.toString(),
                directory.toString(),
                Long.toString(BootTime.hundredths(timekeeper)),
                Long.toString(outputLimit),
                Integer.toString(oomScoreAdjust));
    }
}
