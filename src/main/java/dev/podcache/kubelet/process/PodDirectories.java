package dev.podcache.kubelet.process;

import com.google.common.primitives.Longs;
import dev.podcache.object.PodKey;
import dev.podcache.object.Quoted;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The directories of pods and their containers. Only the user of this process, and its group, have access to them.
 * Thread-safe for different pods; make one call at a time that changes a pod, apart from {@link #deleteUnused}.
 */
public final class PodDirectories {

    private static final Pattern SAFE_NAME = Pattern.compile("[A-Za-z0-9][-A-Za-z0-9_.:]*");
    private static final String POD = "pod.json";
    private static final String CONTAINERS = "containers";

    private final Path root;

    /** Held while instances that are no longer needed are deleted, which two threads may do for one container. */
    private final Object deletions = new Object();

    /** The content of {@code pod.json}. The UID is the name of its directory. */
    record PodName(String namespace, String name) {}

    /**
     * Creates an instance.
     *
     * @param root absolute; created when needed
     */
    public PodDirectories(Path root) {
        this.root = root;
    }

    /** Creates the directory of a pod unless it exists. */
    public void create(PodKey pod) throws IOException {
        Path directory = directory(pod);
        if (JsonFile.read(directory.resolve(POD), PodName.class, "writing it again")
                .isEmpty()) {
            createPrivate(directory);
            JsonFile.write(directory.resolve(POD), new PodName(pod.namespace(), pod.name()));
        }
    }

    /** Returns all pods that have a directory, in any order. */
    public List<PodKey> pods() throws IOException {
        List<PodKey> pods = new ArrayList<>();
        for (Path directory : children(root)) {
            String unknown =
                    "its pod is unknown until it is mounted again; if it no longer exists, end its processes and"
                            + " delete " + directory;
            JsonFile.read(directory.resolve(POD), PodName.class, unknown)
                    .ifPresent(pod -> pods.add(PodKey.of(pod.namespace(), pod.name(), fileName(directory))));
        }
        return pods;
    }

    /** Returns the newest instance of each container of a pod, in any order. */
    public List<ContainerInstance> newest(PodKey pod) throws IOException {
        return newest(directory(pod));
    }

    private static List<ContainerInstance> newest(Path pod) throws IOException {
        List<ContainerInstance> newest = new ArrayList<>();
        for (Path container : children(pod.resolve(CONTAINERS))) {
            instances(container).stream().findFirst().ifPresent(newest::add);
        }
        return newest;
    }

    /** Returns the instances of a container that are kept, the newest first; at most two. */
    public List<ContainerInstance> instances(PodKey pod, String container) throws IOException {
        return instances(directory(pod, container));
    }

    private static List<ContainerInstance> instances(Path container) throws IOException {
        List<ContainerInstance> instances = new ArrayList<>();
        for (Path directory : starts(container)) {
            ContainerInstance.read(fileName(container), directory).ifPresent(instances::add);
        }
        return instances;
    }

    /** Returns the status of a container, with its last state; empty if it was never started. */
    public Optional<ContainerStatus> status(PodKey pod, String container, Timekeeper timekeeper) throws IOException {
        List<ContainerInstance> instances = instances(pod, container);
        if (instances.isEmpty()) {
            return Optional.empty();
        }
        ContainerStatus status = instances.get(0).status(timekeeper);
        if (instances.size() > 1) {
            status.setLastState(instances.get(1).state(timekeeper));
        }
        return Optional.of(status);
    }

    /**
     * Creates the directory of the next instance of a container. Of the earlier ones, keeps only the last, and without
     * its files. No instance of the container may run.
     */
    Path next(PodKey pod, String container) throws IOException {
        synchronized (deletions) {
            return nextLocked(pod, container);
        }
    }

    private Path nextLocked(PodKey pod, String container) throws IOException {
        create(pod);
        Path parent = directory(pod, container);
        Files.createDirectories(parent);
        List<Path> earlier = starts(parent);
        Optional<ContainerInstance> last = instances(pod, container).stream().findFirst();
        for (Path start : earlier) {
            if (last.isPresent() && last.get().directory().equals(start)) {
                last.get().deleteRoot();
            } else {
                ContainerInstance.discard(start);
            }
        }
        long number = earlier.isEmpty() ? 0 : number(earlier.get(0)) + 1;
        return createPrivate(parent.resolve(Long.toString(number)));
    }

    /**
     * Deletes the instances of containers before the newest one, and the files of the newest one if it has ended. Its
     * state and its output remain.
     */
    public void deleteUnused(PodKey pod) throws IOException {
        for (Path container : children(directory(pod).resolve(CONTAINERS))) {
            synchronized (deletions) {
                List<ContainerInstance> instances = instances(pod, fileName(container));
                for (ContainerInstance earlier : instances.subList(Math.min(1, instances.size()), instances.size())) {
                    ContainerInstance.discard(earlier.directory());
                }
                if (!instances.isEmpty() && !instances.get(0).isRunning()) {
                    instances.get(0).deleteRoot();
                }
            }
        }
    }

    /** Kills and deletes what an agent began to start when it was killed. */
    public void discardUnfinished(PodKey pod) throws IOException {
        for (Path container : children(directory(pod).resolve(CONTAINERS))) {
            for (Path start : starts(container)) {
                if (ContainerInstance.read(fileName(container), start).isEmpty()) {
                    ContainerInstance.discard(start);
                }
            }
        }
    }

    /** Kills what commands of containers left that ended while no agent ran. */
    public void killLeft() throws IOException {
        Set<Path> running = new HashSet<>();
        for (Path pod : children(root)) {
            for (ContainerInstance container : newest(pod)) {
                if (container.isRunning()) {
                    running.add(container.root());
                }
            }
        }
        ContainerProcesses.kill(of -> of.startsWith(root) && !running.contains(of));
    }

    /** Kills what commands of a pod's containers left. No container of the pod may run. */
    public void killLeft(PodKey pod) throws IOException {
        Path directory = directory(pod);
        ContainerProcesses.kill(of -> of.startsWith(directory));
    }

    private Path directory(PodKey pod) throws IOException {
        return root.resolve(safe(pod.uid()));
    }

    private Path directory(PodKey pod, String container) throws IOException {
        return directory(pod).resolve(CONTAINERS).resolve(safe(container));
    }

    /** Returns the directories of the starts of a container, the newest first. */
    private static List<Path> starts(Path container) throws IOException {
        return children(container).stream()
                .filter(child -> number(child) >= 0)
                .sorted(Comparator.comparing(PodDirectories::number).reversed())
                .toList();
    }

    private static long number(Path start) {
        return Optional.ofNullable(Longs.tryParse(fileName(start))).orElse(-1L);
    }

    private static List<Path> children(Path directory) throws IOException {
        try (Stream<Path> children = Files.list(directory)) {
            return children.toList();
        } catch (NoSuchFileException | NotDirectoryException none) {
            return List.of();
        }
    }

    private static Path createPrivate(Path directory) throws IOException {
        Files.createDirectories(directory);
        return Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-x---"));
    }

    private static String fileName(Path path) {
        return Objects.requireNonNull(path.getFileName()).toString();
    }

    private static String safe(String name) throws IOException {
        if (!SAFE_NAME.matcher(name).matches()) {
            throw new IOException("not the name of a directory: " + Quoted.value(name));
        }
        return name;
    }
}
