package dev.podcache.kubelet.podconfig;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;
import dev.podcache.kubelet.runtime.VolumeFile;
import dev.podcache.time.Timekeeper;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Writes a payload to the directory of a volume such that who reads it sees all of it, or all of the one before.
 *
 * <p>For one thread at a time, and one writer for each directory. Needs a POSIX file system with symbolic links.
 *
 * <p>Follows {@code pkg/volume/util/atomic_writer.go} of the kubelet in its newest form. Beyond it, permissions count
 * as content, and what a writer left behind that was stopped in the middle is removed by the next write.
 */
public final class AtomicWriter {

    /*
     * A volume with the files "user" and "tls/key" looks like this:
     *
     *   ..2026_01_01_00_00_00.4711/user        the files
     *   ..2026_01_01_00_00_00.4711/tls/key
     *   ..data -> ..2026_01_01_00_00_00.4711   renamed over the one before: the moment at which everything changes
     *   user   -> ..data/user                  what containers see; never changes while there is such a file
     *   tls    -> ..data/tls
     *
     * A name that is new is linked before that moment, and dangles for a while; a name that is gone is removed after
     * it. All that is found beside these, and begins with "..", or points into "..data" without need, is a leftover.
     */

    private static final String DATA = "..data";
    private static final String NEXT_DATA = "..data_tmp";
    private static final DateTimeFormatter STAMP = DateTimeFormatter.ofPattern(
                    "'..'yyyy_MM_dd_HH_mm_ss'.'", Locale.ROOT)
            .withZone(ZoneOffset.UTC);
    private static final int TRAVERSABLE = 0755;

    private final Path directory;
    private final Timekeeper timekeeper;

    /**
     * A writer to {@code directory}, which is created when needed.
     *
     * @param timekeeper gives the time of day for the names of directories
     */
    public AtomicWriter(Path directory, Timekeeper timekeeper) {
        this.directory = directory;
        this.timekeeper = timekeeper;
    }

    /**
     * Makes the directory hold exactly {@code payload}; other files that it holds, and whose names do not begin with
     * {@code ..}, stay. Blocks for as long as the file system takes.
     *
     * @param payload content by relative path, as {@link VolumePayloads#of} makes it
     * @return whether it had to be written: false if it was there already
     * @throws IllegalArgumentException if a path is not allowed; nothing has changed then
     * @throws IOException if a file could not be written; the payload of before is still there then
     */
    public boolean write(Map<String, VolumeFile> payload) throws IOException {
        ImmutableMap<String, VolumeFile> files = checked(payload);
        ImmutableSet<String> names =
                files.keySet().stream().map(PayloadPaths::top).collect(ImmutableSet.toImmutableSet());
        Files.createDirectories(directory);
        Path before = current();
        if (before != null && holds(before, files)) {
            link(names);
            tidy(names, before);
            return false;
        }
        Path after = written(files);
        link(names);
        swap(after);
        tidy(names, after);
        return true;
    }

    private static ImmutableMap<String, VolumeFile> checked(Map<String, VolumeFile> payload) {
        ImmutableMap.Builder<String, VolumeFile> files = ImmutableMap.builder();
        payload.forEach((path, file) -> {
            String problem = PayloadPaths.problem(path);
            if (problem != null) {
                throw new IllegalArgumentException(problem);
            }
            files.put(PayloadPaths.cleaned(path), file);
        });
        return files.buildKeepingLast();
    }

    /** Where the data is, or null if there is none. */
    private @Nullable Path current() throws IOException {
        Path data = directory.resolve(DATA);
        if (!Files.isSymbolicLink(data)) {
            return null;
        }
        Path target = directory.resolve(Files.readSymbolicLink(data));
        return Files.isDirectory(target, LinkOption.NOFOLLOW_LINKS) ? target : null;
    }

    private static boolean holds(Path root, ImmutableMap<String, VolumeFile> files) throws IOException {
        Set<String> found = new HashSet<>();
        try (Stream<Path> paths = Files.walk(root)) {
            for (Path path : (Iterable<Path>) paths::iterator) {
                if (Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
                    String name = root.relativize(path).toString();
                    VolumeFile file = files.get(name);
                    if (file == null || !isThere(file, path)) {
                        return false;
                    }
                    found.add(name);
                }
            }
        }
        return found.size() == files.size();
    }

    private static boolean isThere(VolumeFile file, Path path) throws IOException {
        return Files.size(path) == file.size()
                && Files.getPosixFilePermissions(path).equals(permissions(file.mode()))
                && file.holds(Files.readAllBytes(path));
    }

    private Path written(ImmutableMap<String, VolumeFile> files) throws IOException {
        // made for its owner alone, so that no file can be read before it has its own permissions
        Path root = Files.createTempDirectory(directory, STAMP.format(timekeeper.wallTime()));
        for (Map.Entry<String, VolumeFile> entry : files.entrySet()) {
            Path path = root.resolve(entry.getKey());
            Files.createDirectories(Objects.requireNonNull(path.getParent()));
            Files.write(path, entry.getValue().bytes(), StandardOpenOption.CREATE_NEW);
            Files.setPosixFilePermissions(path, permissions(entry.getValue().mode()));
        }
        Files.setPosixFilePermissions(root, permissions(TRAVERSABLE));
        return root;
    }

    private void link(ImmutableSet<String> names) throws IOException {
        for (String name : names) {
            Path link = directory.resolve(name);
            if (!isOurs(link)) {
                Files.createSymbolicLink(link, Path.of(DATA, name));
            }
        }
    }

    private void swap(Path root) throws IOException {
        Path next = directory.resolve(NEXT_DATA);
        Files.deleteIfExists(next);
        Files.createSymbolicLink(next, root.getFileName());
        Files.move(next, directory.resolve(DATA), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private void tidy(ImmutableSet<String> names, Path current) throws IOException {
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
            for (Path entry : entries) {
                String name = entry.getFileName().toString();
                boolean hidden = name.startsWith("..") && !name.equals(DATA) && !entry.equals(current);
                boolean obsolete = !names.contains(name) && isOurs(entry);
                if (hidden || obsolete) {
                    MoreFiles.deleteRecursively(entry, RecursiveDeleteOption.ALLOW_INSECURE);
                }
            }
        }
    }

    /** Whether it is a link that containers see. */
    private static boolean isOurs(Path link) throws IOException {
        return Files.isSymbolicLink(link)
                && Files.readSymbolicLink(link)
                        .equals(Path.of(DATA, link.getFileName().toString()));
    }

    private static Set<PosixFilePermission> permissions(int mode) {
        Set<PosixFilePermission> permissions = new HashSet<>();
        PosixFilePermission[] all = PosixFilePermission.values();
        for (int bit = 0; bit < all.length; bit++) {
            // the constants go from the owner's reading, the highest bit, to the others' execution, the lowest
            if ((mode & (1 << (all.length - 1 - bit))) != 0) {
                permissions.add(all[bit]);
            }
        }
        return permissions;
    }
}
