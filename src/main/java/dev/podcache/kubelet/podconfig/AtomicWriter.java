package dev.podcache.kubelet.podconfig;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import dev.podcache.kubelet.runtime.VolumeFile;
import dev.podcache.time.Timekeeper;
import java.io.IOException;
import java.io.UncheckedIOException;
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
 * Writes the payload of a volume atomically: readers of the directory see either the whole previous payload or the
 * whole new one.
 *
 * <p>Not thread-safe; a directory must have only one writer. Requires a POSIX file system with symbolic links.
 *
 * <p>Follows {@code pkg/volume/util/atomic_writer.go} of the kubelet in its newest form. Unlike upstream, it also
 * rewrites the payload when only permissions changed, and removes what an interrupted write left behind.
 */
final class AtomicWriter {

    /*
     * A volume with the files "user" and "tls/key" looks like this:
     *
     *   ..2026_01_01_00_00_00.4711/user        the files
     *   ..2026_01_01_00_00_00.4711/tls/key
     *   ..data -> ..2026_01_01_00_00_00.4711   replaced by an atomic rename, which switches all files at once
     *   user   -> ..data/user                  the paths that containers use; stable while the file exists
     *   tls    -> ..data/tls
     *
     * The link of a new name is created before the switch, and dangles until then. The link of a removed name is
     * deleted after the switch. Any other entry is obsolete if its name begins with "..", or if it is a link to the
     * same name in "..data"; the next write deletes it.
     */

    private static final String DATA = "..data";
    private static final String NEW_DATA = "..data_tmp";
    private static final DateTimeFormatter TIMESTAMP = DateTimeFormatter.ofPattern(
                    "'..'yyyy_MM_dd_HH_mm_ss'.'", Locale.ROOT)
            .withZone(ZoneOffset.UTC);
    private static final int DIRECTORY_MODE = 0755;

    private final Path directory;
    private final Timekeeper timekeeper;
    private final FileOwnership ownership;

    /**
     * Creates a writer to {@code directory}, which the first write creates if it does not exist.
     *
     * @param timekeeper the clock for the timestamps in directory names
     * @param ownership sets the owner and group of new files
     */
    public AtomicWriter(Path directory, Timekeeper timekeeper, FileOwnership ownership) {
        this.directory = directory;
        this.timekeeper = timekeeper;
        this.ownership = ownership;
    }

    /**
     * Replaces the payload in the directory by {@code payload}. Keeps files that this class did not write, unless their
     * names begin with {@code ..}. Blocks while it uses the file system.
     *
     * @param payload the files by relative path, as {@link VolumePayloads#of} returns them
     * @return false if the directory already had this payload, so that nothing was written
     * @throws IllegalArgumentException if a path is not allowed; the directory is unchanged
     * @throws IOException if writing failed; the previous payload is still in place, and no content of the new one is left.
     *     Also if obsolete files could not be removed; the new payload is in place then, and the next write removes them
     */
    public boolean write(Map<String, VolumeFile> payload) throws IOException {
        ImmutableMap<String, VolumeFile> files = validated(payload);
        ImmutableSet<String> names =
                files.keySet().stream().map(PayloadPaths::top).collect(ImmutableSet.toImmutableSet());
        Files.createDirectories(directory);
        Path current = currentData();
        if (current != null && contains(current, files)) {
            createLinks(names);
            removeObsolete(names, current);
            return false;
        }
        // accessible only to the owner, so that others cannot read a file before its permissions are set
        Path next = Files.createTempDirectory(directory, TIMESTAMP.format(timekeeper.wallTime()));
        try {
            fill(next, files);
            createLinks(names);
            switchTo(next);
        } catch (IOException | RuntimeException e) {
            // on a full disk, the attempts would pile up
            discard(next, e);
            throw e;
        }
        removeObsolete(names, next);
        return true;
    }

    /** Returns whether a payload was written to a directory. */
    static boolean hasPayload(Path directory) {
        return Files.isSymbolicLink(directory.resolve(DATA));
    }

    private static void discard(Path unfinished, Exception cause) {
        try {
            Removal.of(unfinished);
        } catch (IOException e) {
            cause.addSuppressed(e);
        }
    }

    private static ImmutableMap<String, VolumeFile> validated(Map<String, VolumeFile> payload) {
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

    /** Returns the directory that {@code ..data} points to, or null if there is none. */
    private @Nullable Path currentData() throws IOException {
        Path data = directory.resolve(DATA);
        if (!Files.isSymbolicLink(data)) {
            return null;
        }
        Path target = directory.resolve(Files.readSymbolicLink(data));
        return Files.isDirectory(target, LinkOption.NOFOLLOW_LINKS) ? target : null;
    }

    /** Returns whether these are the files of a directory. What a container made unreadable in it, is not. */
    private static boolean contains(Path root, ImmutableMap<String, VolumeFile> files) {
        try {
            return holds(root, files);
        } catch (IOException | UncheckedIOException unreadable) {
            return false;
        }
    }

    private static boolean holds(Path root, ImmutableMap<String, VolumeFile> files) throws IOException {
        Set<String> found = new HashSet<>();
        try (Stream<Path> paths = Files.walk(root)) {
            for (Path path : (Iterable<Path>) paths::iterator) {
                if (Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
                    String name = root.relativize(path).toString();
                    VolumeFile file = files.get(name);
                    if (file == null || !matches(file, path)) {
                        return false;
                    }
                    found.add(name);
                }
            }
        }
        return found.size() == files.size();
    }

    private static boolean matches(VolumeFile file, Path path) throws IOException {
        return Files.size(path) == file.size()
                && Files.getPosixFilePermissions(path).equals(permissions(file.mode()))
                && file.holds(Files.readAllBytes(path));
    }

    private void fill(Path root, ImmutableMap<String, VolumeFile> files) throws IOException {
        for (Map.Entry<String, VolumeFile> entry : files.entrySet()) {
            Path path = root.resolve(entry.getKey());
            createDirectories(root, Objects.requireNonNull(path.getParent()));
            Files.write(path, entry.getValue().bytes(), StandardOpenOption.CREATE_NEW);
            Files.setPosixFilePermissions(path, permissions(entry.getValue().mode()));
            ownership.applyTo(path, entry.getValue());
        }
        Files.setPosixFilePermissions(root, permissions(DIRECTORY_MODE));
        ownership.applyToDirectory(root);
    }

    private void createDirectories(Path root, Path parent) throws IOException {
        if (parent.equals(root) || Files.exists(parent)) {
            return;
        }
        createDirectories(root, Objects.requireNonNull(parent.getParent()));
        Files.createDirectory(parent);
        // independent of the process's umask
        Files.setPosixFilePermissions(parent, permissions(DIRECTORY_MODE));
        ownership.applyToDirectory(parent);
    }

    private void createLinks(ImmutableSet<String> names) throws IOException {
        for (String name : names) {
            Path link = directory.resolve(name);
            if (!isContainerLink(link)) {
                Files.createSymbolicLink(link, Path.of(DATA, name));
            }
        }
    }

    private void switchTo(Path root) throws IOException {
        Path newLink = directory.resolve(NEW_DATA);
        Files.deleteIfExists(newLink);
        Files.createSymbolicLink(newLink, root.getFileName());
        Files.move(
                newLink, directory.resolve(DATA), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private void removeObsolete(ImmutableSet<String> names, Path current) throws IOException {
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
            for (Path entry : entries) {
                String name = entry.getFileName().toString();
                boolean hidden = name.startsWith("..") && !name.equals(DATA) && !entry.equals(current);
                boolean obsolete = !names.contains(name) && isContainerLink(entry);
                if (hidden || obsolete) {
                    Removal.of(entry);
                }
            }
        }
    }

    /** Returns whether {@code link} is a link to the same name in {@code ..data}. */
    private static boolean isContainerLink(Path link) throws IOException {
        return Files.isSymbolicLink(link)
                && Files.readSymbolicLink(link)
                        .equals(Path.of(DATA, link.getFileName().toString()));
    }

    static Set<PosixFilePermission> permissions(int mode) {
        Set<PosixFilePermission> permissions = new HashSet<>();
        PosixFilePermission[] all = PosixFilePermission.values();
        for (int bit = 0; bit < all.length; bit++) {
            // the constants begin with OWNER_READ, the highest bit, and end with OTHERS_EXECUTE, the lowest
            if ((mode & (1 << (all.length - 1 - bit))) != 0) {
                permissions.add(all[bit]);
            }
        }
        return permissions;
    }
}
