package dev.podcache.kubelet.podconfig;

import dev.podcache.kubelet.runtime.Launch.VolumeMountPoint;
import dev.podcache.kubelet.runtime.VolumeFile;
import dev.podcache.object.PodKey;
import dev.podcache.object.Quoted;
import dev.podcache.pod.PodReferences;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Volume;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Writes the volumes of pods to a directory, for a {@link dev.podcache.kubelet.runtime.PodRuntime} whose containers use
 * files of this machine. A volume is {@code <root>/<pod UID>/volumes/<name>}. Requires a POSIX file system. Thread-safe
 * for different pods; make one call at a time for a pod, and use one instance per directory.
 *
 * <table>
 * <caption>Types of volumes</caption>
 * <tr><th>type</th><th>what is written</th></tr>
 * <tr><td>{@code secret}, {@code configMap}, {@code downwardAPI}, {@code projected}</td><td>the files of {@code mount};
 * a reader sees either all old files or all new ones. {@code secret}, {@code downwardAPI} and {@code projected} are in
 * memory if there is a memory directory</td></tr>
 * <tr><td>{@code emptyDir}</td><td>a directory that every user may write, in memory for {@code medium: Memory} if there
 * is a memory directory. Its {@code sizeLimit} is not enforced</td></tr>
 * <tr><td>{@code hostPath}</td><td>nothing, or what its {@code type} says; the path of the machine is used</td></tr>
 * <tr><td>others</td><td>not supported</td></tr>
 * </table>
 *
 * <p>The pod's fsGroup, and the owner of a token, are set if the process may set them; otherwise a warning is logged
 * once. Directories of pods are accessible only to the user and group of this process.
 */
public final class VolumeDirectory {

    private static final Pattern SAFE_NAME = Pattern.compile("[A-Za-z0-9][-A-Za-z0-9_.:]*");
    private static final int POD_MODE = 0750;
    private static final int PAYLOAD_MODE = 0755;
    private static final int EMPTY_DIR_MODE = 0777;
    private static final String MEMORY = "Memory";

    private final Path root;
    private final @Nullable Path memory;
    private final Timekeeper timekeeper;
    private final Set<String> loggedAttributes = ConcurrentHashMap.newKeySet();

    /**
     * Creates volumes in {@code root} only.
     *
     * @param root for this instance alone; created if it does not exist
     * @param timekeeper the clock for the timestamps in directory names
     */
    public VolumeDirectory(Path root, Timekeeper timekeeper) {
        this.root = root.toAbsolutePath().normalize();
        this.memory = null;
        this.timekeeper = timekeeper;
    }

    /**
     * Creates volumes in {@code root}, and those that should not reach a disk in {@code memory}.
     *
     * @param memory a directory on a tmpfs for this instance alone, such as {@code /dev/shm/edge-1}; created if it does
     *     not exist
     * @throws IllegalArgumentException if {@code memory} is not on a tmpfs, is a link, belongs to another user or cannot be
     *     written; the message says what to do. A mount fails alike if that becomes so later
     */
    public VolumeDirectory(Path root, Path memory, Timekeeper timekeeper) {
        this.root = root.toAbsolutePath().normalize();
        this.memory = memory.toAbsolutePath().normalize();
        this.timekeeper = timekeeper;
        try {
            MemoryDirectory.prepare(this.memory);
        } catch (IOException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
    }

    /**
     * Writes the volumes of a pod. Volumes that come from Secrets, ConfigMaps, tokens or the pod and are not in {@code
     * volumes} stay as they are. A failure of one volume does not keep the others from being written. Blocks while it uses
     * the file system.
     *
     * @param pod with metadata and spec; neither kept nor modified
     * @param volumes as for {@link dev.podcache.kubelet.runtime.PodRuntime#mount}
     * @throws IOException if a volume could not be written, is of an unsupported type, or failed the check of its type;
     *     its suppressed exceptions are the failures of further volumes
     */
    public void mount(Pod pod, Map<String, Map<String, VolumeFile>> volumes) throws IOException {
        IOException failure = null;
        for (Volume volume : Nullables.orEmpty(pod.getSpec().getVolumes())) {
            try {
                mount(pod, volume, volumes.get(volume.getName()));
            } catch (IOException | IllegalArgumentException e) {
                IOException named = new IOException("volume " + volume.getName() + ": " + text(e), e);
                if (failure == null) {
                    failure = named;
                } else {
                    failure.addSuppressed(named);
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    /**
     * Returns the path of a mounted volume, or of the part of it that {@code mount.subPath()} names; creates a directory
     * there if it does not exist. The path is inside the volume also after following symbolic links, at the time of this
     * call: a container that may change the volume can replace a directory by a link later. Nothing is created or changed
     * outside the volume, also if a link appears during this call.
     *
     * @param pod with metadata and spec; neither kept nor modified
     * @throws IOException if the pod has no such volume, it was not mounted, or the subPath leads out of it; the message
     *     names the {@code subPathExpr}, not its value
     */
    public Path path(Pod pod, VolumeMountPoint mount) throws IOException {
        Volume volume = Nullables.orEmpty(pod.getSpec().getVolumes()).stream()
                .filter(each -> mount.volume().equals(each.getName()))
                .findFirst()
                .orElseThrow(() -> new IOException("the pod has no volume " + mount.volume()));
        boolean host = volume.getHostPath() != null;
        Path path = host
                ? Path.of(Nullables.orEmpty(volume.getHostPath().getPath()))
                : directory(PodReferences.key(pod), volume);
        if (mount.subPath().isEmpty()) {
            return path;
        }
        return VolumePayloads.isMadeHere(volume)
                ? SubPath.ofPayload(path, mount)
                : SubPath.of(path, mount, host ? null : podDirectory(path));
    }

    /**
     * Returns the directories of a pod's volumes by name, without {@code hostPath} volumes; empty for an unknown pod. Blocks
     * while it uses the file system.
     */
    public Map<String, Path> directories(PodKey pod) throws IOException {
        Map<String, Path> directories = new LinkedHashMap<>();
        for (Path base : memory == null ? List.of(root) : List.of(root, memory)) {
            try (Stream<Path> volumes = Files.list(podDirectory(base, pod).resolve("volumes"))) {
                volumes.forEach(volume -> directories.put(String.valueOf(volume.getFileName()), volume));
            } catch (NoSuchFileException none) {
                // the pod has no volumes here
            }
        }
        return directories;
    }

    /**
     * Deletes all volumes of a pod and its directory, those with Secrets first, without following symbolic links and without
     * touching {@code hostPath} volumes. Has no effect on an unknown pod. Blocks while it uses the file system.
     *
     * @throws IOException if something could not be deleted; all the rest is deleted then
     */
    public void remove(PodKey pod) throws IOException {
        List<Path> directories = new ArrayList<>();
        for (Path base : memory == null ? List.of(root) : List.of(memory, root)) {
            Path directory = podDirectory(base, pod);
            if (Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
                directories.addAll(payloads(directory));
            }
        }
        if (memory != null) {
            directories.add(podDirectory(memory, pod));
        }
        directories.add(podDirectory(root, pod));
        IOException failure = null;
        for (Path directory : directories) {
            failure = removed(directory, failure);
        }
        if (failure != null) {
            throw failure;
        }
    }

    private void mount(Pod pod, Volume volume, @Nullable Map<String, VolumeFile> files) throws IOException {
        String type = VolumeTypes.of(volume);
        if (VolumePayloads.isMadeHere(volume)) {
            if (files != null) {
                write(pod, volume, files);
            }
        } else if (volume.getHostPath() != null) {
            HostPathType.check(volume.getHostPath());
        } else if (type.equals("emptyDir")) {
            createEmptyDir(pod, volume);
        } else {
            throw new IOException("volumes of type " + type + " are not supported on this node");
        }
    }

    private void write(Pod pod, Volume volume, Map<String, VolumeFile> files) throws IOException {
        Path directory = directory(PodReferences.key(pod), volume);
        create(directory, PAYLOAD_MODE);
        FileOwnership ownership = FileOwnership.of(pod, directory, loggedAttributes);
        ownership.applyToDirectory(directory);
        Map<String, VolumeFile> adjusted = new LinkedHashMap<>();
        files.forEach((path, file) -> adjusted.put(path, ownership.adjusted(file)));
        new AtomicWriter(directory, timekeeper, ownership).write(adjusted);
    }

    private void createEmptyDir(Pod pod, Volume volume) throws IOException {
        String medium = medium(volume);
        if (!medium.isEmpty() && !medium.equals(MEMORY)) {
            throw new IOException("the medium " + medium + " of an emptyDir is not supported on this node");
        }
        Path directory = directory(PodReferences.key(pod), volume);
        if (create(directory, EMPTY_DIR_MODE)) {
            FileOwnership.of(pod, directory, loggedAttributes).applyToWritableDirectory(directory);
        }
    }

    private Path directory(PodKey pod, Volume volume) throws IOException {
        boolean inMemory = volume.getSecret() != null
                || volume.getProjected() != null
                || volume.getDownwardAPI() != null
                || medium(volume).equals(MEMORY);
        Path base = inMemory && memory != null ? memory : root;
        return podDirectory(base, pod).resolve("volumes").resolve(safe(Nullables.orEmpty(volume.getName())));
    }

    private static String medium(Volume volume) {
        return volume.getEmptyDir() == null
                ? ""
                : Nullables.orEmpty(volume.getEmptyDir().getMedium());
    }

    /** Returns the directory of the pod whose volume this is. */
    private static Path podDirectory(Path volume) {
        return Objects.requireNonNull(Objects.requireNonNull(volume.getParent()).getParent());
    }

    private static Path podDirectory(Path base, PodKey pod) throws IOException {
        return base.resolve(safe(pod.uid()));
    }

    private static String safe(String name) throws IOException {
        if (!SAFE_NAME.matcher(name).matches()) {
            throw new IOException("not the name of a directory: " + Quoted.value(name));
        }
        return name;
    }

    /** Creates a volume's directory and its parents. Returns false if it exists. */
    private boolean create(Path volume, int mode) throws IOException {
        if (Files.isDirectory(volume, LinkOption.NOFOLLOW_LINKS)) {
            return false;
        }
        if (memory != null && volume.startsWith(memory)) {
            // may have been deleted or unmounted meanwhile
            MemoryDirectory.prepare(memory);
        }
        Path volumes = Objects.requireNonNull(volume.getParent());
        Path pod = Objects.requireNonNull(volumes.getParent());
        Files.createDirectories(Objects.requireNonNull(pod.getParent()));
        for (Path directory : List.of(pod, volumes)) {
            if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
                createDirectory(directory, POD_MODE);
            }
        }
        createDirectory(volume, mode);
        return true;
    }

    private static void createDirectory(Path directory, int mode) throws IOException {
        Files.createDirectory(directory);
        // independent of the process's umask
        Files.setPosixFilePermissions(directory, AtomicWriter.permissions(mode));
    }

    /** Adds what a removal throws to {@code before}, so that one directory does not keep the next. */
    private static @Nullable IOException removed(Path directory, @Nullable IOException before) {
        try {
            Removal.of(directory);
            return before;
        } catch (IOException e) {
            if (before == null) {
                return e;
            }
            before.addSuppressed(e);
            return before;
        }
    }

    /** Returns the volumes of a pod that were written from Secrets and the like. */
    private static List<Path> payloads(Path pod) throws IOException {
        try (Stream<Path> volumes = Files.list(pod.resolve("volumes"))) {
            return volumes.filter(AtomicWriter::hasPayload).toList();
        } catch (NoSuchFileException | NotDirectoryException none) {
            return List.of();
        } catch (AccessDeniedException unreadable) {
            // the removal of the whole directory adds permissions
            return List.of();
        }
    }

    /** The message of a failed call to the file system is often only a path. */
    private static @Nullable String text(Exception e) {
        return e instanceof FileSystemException ? e.getClass().getSimpleName() + ": " + e.getMessage() : e.getMessage();
    }
}
