package dev.podcache.testing;

import dev.podcache.kubelet.runtime.ContainerExec;
import dev.podcache.kubelet.runtime.Launch;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.kubelet.runtime.PodState;
import dev.podcache.kubelet.runtime.RuntimeEvents;
import dev.podcache.kubelet.runtime.RuntimeStatus;
import dev.podcache.kubelet.runtime.VolumeFile;
import dev.podcache.object.PodKey;
import dev.podcache.pod.PodReferences;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A runtime whose containers are entries of a map, and which breaks the contract of {@link PodRuntime} in one way, or in none.
 * Each second of a container is a few milliseconds here. Thread-safe.
 */
final class FaultyRuntime implements PodRuntime, ContainerExec {

    /** The first word of a command: what the container does. The second is how long it lingers, in milliseconds. */
    static final String RUNS = "runs";

    static final String ENDS = "ends";

    private static final int MILLIS_PER_SECOND = 20;
    private static final int KILLED = 137;
    private static final int FAILED = 3;

    /** What is wrong. */
    enum Breach {
        NONE,
        TELLS_NOTHING,
        KEEPS_THE_ID,
        MAKES_UP_A_HASH,
        RESOLVES_THE_IMAGE_AT_RESTART,
        FORGETS_THE_HASH_AT_RESTART,
        ENDS_CONTAINERS_AT_RESTART,
        RUNS_AFTER_AN_INTERRUPT,
        GRANTS_NO_GRACE,
        GRANTS_ANY_TIME,
        STOPS_ALL_PODS,
        KEEPS_A_FORGOTTEN_STATUS,
        KEEPS_A_FORGOTTEN_HASH,
        REMOVES_VOLUMES_THAT_ARE_NOT_NAMED,
        KEEPS_FILES_THAT_ARE_GONE,
        NEVER_ENDS_A_COMMAND,
        KEEPS_AN_OUTPUT_OPEN,
        IGNORES_THE_END_OF_A_SESSION,
        LEAVES_COMMANDS_TO_THEMSELVES
    }

    /** What outlives an agent. Guarded by itself. */
    static final class Disk {

        private final Map<PodKey, Map<String, MappedContainer>> pods = new LinkedHashMap<>();
        private final Map<PodKey, Map<String, Map<String, VolumeFile>>> volumes = new HashMap<>();
        private final Map<PodKey, Map<String, String>> left = new HashMap<>();
        private int starts;
    }

    /** A container. Guarded by its disk. */
    private static final class MappedContainer {

        private final String id;
        private final String image;
        private final int restarts;
        private final String hash;
        private final Duration lingers;
        private final List<Command> commands = new ArrayList<>();
        private @Nullable Integer exitCode;

        MappedContainer(String id, String image, Launch launch) {
            this.id = id;
            this.image = image;
            this.restarts = launch.restartCount();
            this.hash = launch.containerHash();
            this.lingers = Duration.ofMillis(Long.parseLong(launch.command().get(1)));
        }

        ContainerStatus status(String name) {
            ContainerStatusBuilder status = new ContainerStatusBuilder()
                    .withName(name)
                    .withContainerID(id)
                    .withImage(image)
                    .withRestartCount(restarts);
            return exitCode == null
                    ? status.withNewState()
                            .withNewRunning()
                            .endRunning()
                            .endState()
                            .build()
                    : status.withNewState()
                            .withNewTerminated()
                            .withExitCode(exitCode)
                            .endTerminated()
                            .endState()
                            .build();
        }
    }

    private final Disk disk;
    private final Breach breach;
    private final boolean restarted;
    private volatile @Nullable RuntimeEvents events;

    /** @param restarted whether another runtime had this disk before */
    FaultyRuntime(Disk disk, Breach breach, boolean restarted) {
        this.disk = disk;
        this.breach = breach;
        this.restarted = restarted;
    }

    FaultyRuntime afterRestart() {
        return new FaultyRuntime(disk, breach, true);
    }

    /** Returns how long {@code time} is here. */
    static Duration scaled(Duration time) {
        return Duration.ofMillis(time.toSeconds() * MILLIS_PER_SECOND);
    }

    @Nullable
    String file(PodKey pod, String volume, String path) {
        synchronized (disk) {
            VolumeFile file = disk.volumes
                    .getOrDefault(pod, Map.of())
                    .getOrDefault(volume, Map.of())
                    .get(path);
            return file == null ? null : new String(file.bytes(), StandardCharsets.UTF_8);
        }
    }

    @Override
    public String type() {
        return "faulty";
    }

    @Override
    public void listen(RuntimeEvents notified) {
        events = notified;
        if (restarted && breach == Breach.ENDS_CONTAINERS_AT_RESTART) {
            pods().forEach(pod -> running(pod).forEach((name, instance) -> end(pod, instance, KILLED)));
        }
    }

    @Override
    public RuntimeStatus health() {
        return RuntimeStatus.ready("1");
    }

    @Override
    public List<PodKey> pods() {
        synchronized (disk) {
            return List.copyOf(disk.pods.keySet());
        }
    }

    @Override
    public PodState status(Pod pod) {
        synchronized (disk) {
            List<ContainerStatus> containers = new ArrayList<>();
            Map<String, String> hashes = new HashMap<>(disk.left.getOrDefault(PodReferences.key(pod), Map.of()));
            instances(PodReferences.key(pod)).forEach((name, instance) -> {
                ContainerStatus status = instance.status(name);
                if (restarted && breach == Breach.RESOLVES_THE_IMAGE_AT_RESTART) {
                    status.setImage("registry.example/" + status.getImage() + "@sha256:0");
                }
                containers.add(status);
                if (!restarted || breach != Breach.FORGETS_THE_HASH_AT_RESTART) {
                    hashes.put(name, breach == Breach.MAKES_UP_A_HASH ? "made up" : instance.hash);
                }
            });
            return PodState.of(List.of(), containers, List.of()).withHashes(hashes);
        }
    }

    private Map<String, MappedContainer> instances(PodKey pod) {
        return disk.pods.getOrDefault(pod, Map.of());
    }

    private Map<String, MappedContainer> running(PodKey pod) {
        synchronized (disk) {
            Map<String, MappedContainer> running = new LinkedHashMap<>(instances(pod));
            running.values().removeIf(instance -> instance.exitCode != null);
            return running;
        }
    }

    @Override
    public void mount(Pod pod, Map<String, Map<String, VolumeFile>> volumes) {
        synchronized (disk) {
            Map<String, Map<String, VolumeFile>> mounted =
                    disk.volumes.computeIfAbsent(PodReferences.key(pod), unknown -> new HashMap<>());
            if (breach == Breach.REMOVES_VOLUMES_THAT_ARE_NOT_NAMED) {
                mounted.keySet().retainAll(volumes.keySet());
            }
            volumes.forEach((name, files) -> {
                Map<String, VolumeFile> all = new HashMap<>();
                if (breach == Breach.KEEPS_FILES_THAT_ARE_GONE) {
                    all.putAll(mounted.getOrDefault(name, Map.of()));
                }
                all.putAll(files);
                mounted.put(name, all);
            });
        }
    }

    @Override
    public void startContainer(Pod pod, Container container, Launch launch) throws InterruptedException {
        if (breach != Breach.RUNS_AFTER_AN_INTERRUPT && Thread.interrupted()) {
            throw new InterruptedException("interrupted before the start");
        }
        PodKey key = PodReferences.key(pod);
        MappedContainer instance;
        synchronized (disk) {
            int number = breach == Breach.KEEPS_THE_ID ? 0 : ++disk.starts;
            instance = new MappedContainer("faulty://" + number, String.valueOf(container.getImage()), launch);
            disk.pods.computeIfAbsent(key, unknown -> new LinkedHashMap<>()).put(container.getName(), instance);
        }
        if (breach == Breach.RUNS_AFTER_AN_INTERRUPT && Thread.interrupted()) {
            throw new InterruptedException("interrupted after the start");
        }
        if (launch.command().get(0).equals(ENDS)) {
            CompletableFuture.delayedExecutor(1, TimeUnit.MILLISECONDS).execute(() -> end(key, instance, 0));
        }
    }

    private void end(PodKey pod, MappedContainer instance, int exitCode) {
        synchronized (disk) {
            if (instance.exitCode == null) {
                instance.exitCode = exitCode;
                if (breach != Breach.LEAVES_COMMANDS_TO_THEMSELVES) {
                    instance.commands.forEach(command -> command.ended.countDown());
                }
            }
        }
        RuntimeEvents told = events;
        if (told != null && breach != Breach.TELLS_NOTHING) {
            told.changed(pod.uid());
        }
    }

    @Override
    public void stopContainer(PodKey pod, String container, Duration gracePeriod) throws InterruptedException {
        stop(pod, running(pod).get(container), gracePeriod);
    }

    @Override
    public void stopPod(PodKey pod, Duration gracePeriod) throws InterruptedException {
        for (PodKey each : breach == Breach.STOPS_ALL_PODS ? pods() : List.of(pod)) {
            for (MappedContainer instance : running(each).values()) {
                stop(each, instance, gracePeriod);
            }
        }
    }

    private void stop(PodKey pod, @Nullable MappedContainer instance, Duration gracePeriod)
            throws InterruptedException {
        if (instance == null) {
            return;
        }
        Duration grace = switch (breach) {
            case GRANTS_NO_GRACE -> Duration.ZERO;
            case GRANTS_ANY_TIME -> instance.lingers;
            default -> scaled(gracePeriod);
        };
        boolean inTime = instance.lingers.compareTo(grace) <= 0;
        // nothing counts it down: the container takes its time, or its grace passes
        boolean ended =
                new CountDownLatch(1).await((inTime ? instance.lingers : grace).toMillis(), TimeUnit.MILLISECONDS);
        if (ended) {
            throw new IllegalStateException("nothing ends a container early");
        }
        end(pod, instance, inTime ? PodRuntimeContract.LINGERED : KILLED);
    }

    @Override
    public void forget(PodKey pod) {
        synchronized (disk) {
            disk.volumes.remove(pod);
            if (breach == Breach.KEEPS_A_FORGOTTEN_HASH) {
                instances(pod).forEach((name, instance) -> disk.left.put(pod, Map.of(name, instance.hash)));
            }
            if (breach == Breach.KEEPS_A_FORGOTTEN_STATUS && disk.pods.containsKey(pod)) {
                return;
            }
            disk.pods.remove(pod);
        }
    }

    @Override
    public ContainerProcess exec(PodKey pod, String container, List<String> command, boolean tty) throws IOException {
        MappedContainer instance = running(pod).get(container);
        if (instance == null) {
            throw new IOException("container " + container + " does not run");
        }
        Command started = new Command(command.get(0));
        synchronized (disk) {
            instance.commands.add(started);
        }
        return started;
    }

    /** A script that says something, and then exits or waits for ever. */
    private final class Command implements ContainerProcess {

        private final CountDownLatch ended = new CountDownLatch(1);
        private final InputStream stdout;
        private final boolean exits;

        Command(String script) {
            this.exits = script.contains("exit");
            if (exits && breach != Breach.NEVER_ENDS_A_COMMAND) {
                ended.countDown();
            }
            CountDownLatch open = breach == Breach.KEEPS_AN_OUTPUT_OPEN ? new CountDownLatch(1) : ended;
            this.stdout = new SequenceInputStream(
                    new ByteArrayInputStream("out\n".getBytes(StandardCharsets.UTF_8)), new EmptyUntil(open));
        }

        @Override
        public OutputStream stdin() {
            return OutputStream.nullOutputStream();
        }

        @Override
        public InputStream stdout() {
            return stdout;
        }

        @Override
        public InputStream stderr() {
            return InputStream.nullInputStream();
        }

        @Override
        public int await() throws InterruptedException {
            ended.await();
            return exits ? FAILED : KILLED;
        }

        @Override
        public void close() {
            if (breach != Breach.IGNORES_THE_END_OF_A_SESSION) {
                ended.countDown();
            }
        }
    }

    /** Has no bytes, and ends with a latch. */
    private static final class EmptyUntil extends InputStream {

        private final CountDownLatch end;

        EmptyUntil(CountDownLatch end) {
            this.end = end;
        }

        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
            return read();
        }

        @Override
        public int read() throws IOException {
            try {
                end.await();
                return -1;
            } catch (InterruptedException e) {
                throw new InterruptedIOException();
            }
        }
    }
}
