package dev.podcache.kubelet.agent;

import com.google.common.net.InetAddresses;
import dev.podcache.kubelet.podconfig.VolumeDirectory;
import dev.podcache.kubelet.process.AttachedContainer;
import dev.podcache.kubelet.process.ContainerInstance;
import dev.podcache.kubelet.process.ContainerOutput;
import dev.podcache.kubelet.process.ContainerStarter;
import dev.podcache.kubelet.process.LoopbackConnection;
import dev.podcache.kubelet.process.PodDirectories;
import dev.podcache.kubelet.process.ProcessHost;
import dev.podcache.kubelet.process.ProcessUsage;
import dev.podcache.kubelet.process.RunningContainers;
import dev.podcache.kubelet.runtime.ContainerAttach;
import dev.podcache.kubelet.runtime.ContainerExec;
import dev.podcache.kubelet.runtime.ContainerLogs;
import dev.podcache.kubelet.runtime.ContainerStatistics;
import dev.podcache.kubelet.runtime.DiskReclaim;
import dev.podcache.kubelet.runtime.Launch;
import dev.podcache.kubelet.runtime.Launch.VolumeMountPoint;
import dev.podcache.kubelet.runtime.LocalVolumes;
import dev.podcache.kubelet.runtime.PodIsolation;
import dev.podcache.kubelet.runtime.PodPortForward;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.kubelet.runtime.PodState;
import dev.podcache.kubelet.runtime.RuntimeEvents;
import dev.podcache.kubelet.runtime.RuntimeStatus;
import dev.podcache.kubelet.runtime.VolumeFile;
import dev.podcache.object.PodKey;
import dev.podcache.object.Quoted;
import dev.podcache.pod.EphemeralContainers;
import dev.podcache.pod.PodReferences;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * A runtime that runs containers as processes of this machine, on Linux. An example for authors of runtimes: a complete
 * one, with logs, exec, attach, port-forward (off by default) and statistics, which outlives the agent.
 *
 * <p>There is no isolation. Images, ports and security contexts have no effect: a container must name a command of this
 * machine, and runs as the user of this process, in its network. With {@code runAsNonRoot} it does not start if that user is
 * root. A container with a {@code stopSignal} other than SIGTERM does not start, and pods with {@code hostAliases} or {@code
 * dnsConfig} are refused. Resources only decide the order in which pods are evicted and Linux kills processes ({@code oom_score_adj}, which only
 * a privileged agent can lower), and whether a pod is evicted for its local storage.
 *
 * <p>Volumes and the working directory are below a directory of the container, which the variable {@code PODCACHE_ROOT}
 * names: with {@code mountPath: /etc/tls} a command reads {@code $PODCACHE_ROOT/etc/tls}, or {@code etc/tls} if it has no
 * {@code workingDir}. Mounts are writable, and must not be nested. The environment is the container's own, {@code PATH},
 * {@code HOSTNAME}, {@code PODCACHE_ROOT} and what a shell sets, such as {@code PWD}. Variables have any names and bytes that Kubernetes allows;
 * while a command with a name that no shell knows, such as {@code my.key}, starts, other users of the machine can see the
 * value of that variable for an instant. A command that is itself a shell passes no such variable on.
 *
 * <p>Containers go on when this process ends, also when it is killed, and are found again by the next runtime of the same
 * directory; their ends are then noticed up to 5 s later. Under systemd, this needs {@code KillMode=process}. A container
 * ends with its command. A process that leaves the command's process group keeps the container running while it keeps the
 * output open.
 *
 * <p>A command of {@code exec}, a probe or a hook returns when it has ended, with what was written until then. A process
 * that it leaves behind lives on until the container ends, but cannot write to the outputs of the command any longer. When
 * a container ends, all that its commands left is killed; if no agent runs then, by the next one. Such a process is found
 * by {@code PODCACHE_ROOT} in its environment: one that cleared or overwrote its environment is left.
 *
 * <p>Such a command has the environment that the container was started with, which is in no file. So an agent that finds a
 * container of an earlier one reads it from the container's command, and refuses to execute anything if that has cleared or
 * overwritten it, as nginx and PostgreSQL do.
 *
 * <p>What a container writes to {@code $PODCACHE_ROOT} and its {@code terminationMessagePath} is the message of its end, at
 * most 4,096 bytes; with the policy {@code FallbackToLogsOnError} the end of its output otherwise, if it failed. There is none
 * if the path leads through a mount or a link.
 *
 * <p>A shell keeps the output: it slows a container down that writes more than about 20,000 lines or 1 MB per second. A line
 * may have any length: with the programs {@code stdbuf} and {@code fold}, no more than about a mebibyte of it is held in
 * memory, and it is shown as one line; a line of exactly 1,048,573 bytes is joined with the next. Without them, it is held
 * until its end. Zero bytes are left out. The newest two files of output are kept. {@code exec} offers no terminal,
 * and {@code attach} no input: it shows both outputs, line by line. {@code port-forward} reaches each port that listens
 * at 127.0.0.1 or ::1 of this machine, whether or not the pod's containers have opened it.
 * Thread-safe, as {@link PodRuntime} demands.
 */
public final class ProcessRuntime
        implements PodRuntime,
                ContainerLogs,
                ContainerExec,
                ContainerAttach,
                PodPortForward,
                ContainerStatistics,
                DiskReclaim,
                LocalVolumes,
                PodIsolation {

    private final Path directory;
    private final String podIp;
    private final Timekeeper timekeeper;
    private final PodDirectories pods;
    private final boolean portForwarding;
    private final VolumeDirectory volumes;
    private final ContainerStarter starter;
    private final RunningContainers running;

    private ProcessRuntime(Builder builder) {
        this.directory = builder.directory;
        this.podIp = builder.podIp;
        this.portForwarding = builder.portForwarding;
        this.timekeeper = builder.timekeeper;
        Path root = directory.resolve("pods");
        this.pods = new PodDirectories(root);
        this.volumes = builder.memory == null
                ? new VolumeDirectory(root, timekeeper)
                : new VolumeDirectory(root, builder.memory, timekeeper);
        this.running = new RunningContainers(pods, timekeeper);
        this.starter = new ContainerStarter(directory, pods, volumes, builder.outputLimit, timekeeper);
    }

    /**
     * Returns a runtime with the default options. The Secrets and tokens that pods mount are files in {@code directory},
     * also on a disk; {@link Builder#memory} avoids that.
     *
     * <p>Pods write to the file system of {@code directory}. If it is not that of the root directory, give the agent {@link
     * NodeAgentBuilder#facts} with {@code HostFacts.ofThisMachine} of an existing directory there: the Node offers that file
     * system, and pods are evicted while it is short.
     *
     * @param directory for the state, volumes and logs of pods, for this runtime alone; created by {@link #listen}
     * @param timekeeper the clock, and the threads on which ends of containers are handled
     */
    public static ProcessRuntime in(Path directory, Timekeeper timekeeper) {
        return builder(directory, timekeeper).build();
    }

    /** Returns a builder, with the arguments of {@link #in}. */
    public static Builder builder(Path directory, Timekeeper timekeeper) {
        return new Builder(directory, timekeeper);
    }

    /** Creates a {@link ProcessRuntime}. Not thread-safe. */
    public static final class Builder {

        private final Path directory;
        private final Timekeeper timekeeper;
        private String podIp = "127.0.0.1";
        private @Nullable Path memory;
        private long outputLimit = 10 << 20;
        private boolean portForwarding;

        private Builder(Path directory, Timekeeper timekeeper) {
            this.directory = Objects.requireNonNull(directory, "directory")
                    .toAbsolutePath()
                    .normalize();
            this.timekeeper = Objects.requireNonNull(timekeeper, "timekeeper");
        }

        /**
         * Sets the address that all pods have, by default 127.0.0.1.
         *
         * @throws IllegalArgumentException if {@code address} is no IP address
         */
        public Builder podIp(String address) {
            if (!InetAddresses.isInetAddress(Objects.requireNonNull(address, "address"))) {
                throw new IllegalArgumentException("podIp must be an IP address, but is " + Quoted.value(address));
            }
            this.podIp = address;
            return this;
        }

        /**
         * Keeps Secrets and tokens in memory: in this directory on a tmpfs, as for {@link VolumeDirectory}. {@link #build}
         * throws an IllegalArgumentException if they would reach a disk or another user there.
         */
        public Builder memory(Path tmpfs) {
            this.memory = tmpfs;
            return this;
        }

        /**
         * Sets the size in bytes at which the output of a container continues in another file, by default 10 MiB. Two
         * files are kept.
         *
         * @throws IllegalArgumentException if {@code bytes} is not positive
         */
        public Builder outputLimit(long bytes) {
            if (bytes <= 0) {
                throw new IllegalArgumentException("outputLimit must be positive, but is " + bytes);
            }
            this.outputLimit = bytes;
            return this;
        }

        /**
         * Forwards ports, which is off by default. Containers have the network of this machine, so every port of its
         * loopback address can be reached by whoever may use {@code pods/portforward} for one of the pods, those of other
         * programs and of the agent's own endpoints too.
         */
        public Builder portForwarding() {
            this.portForwarding = true;
            return this;
        }

        public ProcessRuntime build() {
            return new ProcessRuntime(this);
        }
    }

    @Override
    public String type() {
        return "process";
    }

    @Override
    public void listen(RuntimeEvents events) {
        running.setEvents(events);
        try {
            starter.install();
            for (PodKey pod : pods.pods()) {
                pods.discardUnfinished(pod);
                running.findAll(pod);
            }
            pods.killLeft();
        } catch (IOException e) {
            throw new UncheckedIOException("the process runtime cannot use " + directory + ": " + e.getMessage(), e);
        }
    }

    @Override
    public boolean stopSignal(String signal) {
        return signal.equals("SIGTERM");
    }

    @Override
    public OptionalLong user(Pod pod, Container container) {
        return ProcessHost.user();
    }

    @Override
    public RuntimeStatus health() {
        return ProcessHost.health(directory);
    }

    @Override
    public List<PodKey> pods() {
        try {
            return pods.pods();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public PodState status(Pod pod) {
        PodKey key = PodReferences.key(pod);
        try {
            return new PodState(
                    statuses(key, pod.getSpec().getInitContainers()),
                    statuses(key, pod.getSpec().getContainers()),
                    statuses(key, EphemeralContainers.of(pod)),
                    List.of(podIp),
                    hashes(key));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Map<String, String> hashes(PodKey pod) throws IOException {
        Map<String, String> hashes = new HashMap<>();
        for (ContainerInstance container : pods.newest(pod)) {
            hashes.put(container.name(), container.hash());
        }
        return hashes;
    }

    private List<ContainerStatus> statuses(PodKey pod, List<Container> containers) throws IOException {
        List<ContainerStatus> statuses = new ArrayList<>();
        for (Container container : containers) {
            pods.status(pod, container.getName(), timekeeper).ifPresent(statuses::add);
        }
        return statuses;
    }

    @Override
    public void mount(Pod pod, Map<String, Map<String, VolumeFile>> contents) throws IOException {
        pods.create(PodReferences.key(pod));
        volumes.mount(pod, contents);
    }

    @Override
    public Path volume(Pod pod, String volume) throws IOException {
        return volumes.path(pod, new VolumeMountPoint(volume, "/", "", true));
    }

    @Override
    public void startContainer(Pod pod, Container container, Launch launch) throws IOException, InterruptedException {
        PodKey key = PodReferences.key(pod);
        if (running.find(key, container.getName()).isPresent()) {
            throw new IOException("container " + container.getName() + " runs already");
        }
        running.watch(key, starter.start(pod, container, launch));
    }

    @Override
    public void stopContainer(PodKey pod, String container, Duration gracePeriod)
            throws IOException, InterruptedException {
        running.stop(running.find(pod, container).stream().toList(), gracePeriod);
    }

    @Override
    public void stopPod(PodKey pod, Duration gracePeriod) throws IOException, InterruptedException {
        running.stop(running.findAll(pod), gracePeriod);
    }

    @Override
    public void forget(PodKey pod) throws IOException {
        pods.killLeft(pod);
        volumes.remove(pod);
    }

    @Override
    public InputStream logs(PodKey pod, String container, LogOptions options) throws IOException {
        List<ContainerInstance> instances = pods.instances(pod, container);
        int wanted = options.previous() ? 1 : 0;
        if (instances.size() <= wanted) {
            throw new NoSuchFileException((options.previous() ? "previous terminated container " : "container ")
                    + container + " of pod " + pod.namespace() + "/" + pod.name() + " not found");
        }
        return new ContainerOutput(instances.get(wanted), options, timekeeper);
    }

    @Override
    public ContainerProcess exec(PodKey pod, String container, List<String> command, boolean tty) throws IOException {
        if (tty) {
            throw new IOException("the process runtime has no terminals; leave out --tty");
        }
        return running.require(pod, container).exec(command);
    }

    @Override
    public ContainerProcess attach(PodKey pod, String container, boolean stdin) throws IOException {
        if (stdin) {
            throw new IOException("containers of the process runtime have no standard input; leave out --stdin");
        }
        return new AttachedContainer(running.require(pod, container), timekeeper);
    }

    @Override
    public PortConnection portForward(PodKey pod, int port) throws IOException {
        if (!portForwarding) {
            throw new IOException("this node forwards no ports, because its pods share the network of the machine;"
                    + " ProcessRuntime.Builder.portForwarding() allows it");
        }
        if (running.findAll(pod).isEmpty()) {
            throw new IOException("no container of the pod runs");
        }
        return LoopbackConnection.to(port);
    }

    @Override
    public List<PodUsage> usage() throws IOException {
        ProcessUsage processes = ProcessUsage.now();
        Instant now = timekeeper.wallTime();
        List<PodUsage> usage = new ArrayList<>();
        for (PodKey pod : pods.pods()) {
            processes.of(pod, pods.newest(pod), volumes.directories(pod), now).ifPresent(usage::add);
        }
        return usage;
    }

    @Override
    public void deleteUnusedContainers() throws IOException {
        for (PodKey pod : pods.pods()) {
            pods.deleteUnused(pod);
        }
    }

    @Override
    public void deleteUnusedImages() {
        // there are no images
    }
}
