package dev.podcache.kubelet.podconfig;

import com.google.common.base.Splitter;
import dev.podcache.kubelet.runtime.Launch.VolumeMountPoint;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.PosixFileAttributeView;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Resolves the subPath of a mount. Follows {@code pkg/volume/util/subpath} in what it allows: symbolic links within the
 * volume, and no other way out of it. No message shows what a {@code subPathExpr} was expanded to.
 */
final class SubPath {

    /*
     * A container can change the volume meanwhile (CVE-2021-25741). So names are resolved first, links included; then the
     * resolved path is opened again from the volume on, each directory by the descriptor of the one before and without
     * following links. What is missing is made apart, where no container sees it, and moved to its place by descriptors.
     */

    private static final Splitter SLASHES = Splitter.on('/').omitEmptyStrings();
    private static final int ALL_MODE_BITS = 07777;

    private SubPath() {}

    /**
     * Returns the path of a part of a volume that has only files that we write. Nothing is created, and the path leads
     * through the volume's links, so that it shows later versions of a file.
     *
     * @throws IOException if the path leads out of the volume or does not exist
     */
    static Path ofPayload(Path volume, VolumeMountPoint mount) throws IOException {
        return guarded(volume, mount, () -> {
            Path root = volume.toRealPath();
            Path unresolved = volume;
            for (String name : names(mount)) {
                unresolved = unresolved.resolve(name);
                if (!Files.exists(unresolved, LinkOption.NOFOLLOW_LINKS)) {
                    throw refused(mount, "was not found: the volume has no such file", null);
                }
                requireInside(unresolved.toRealPath(), root, mount, volume);
            }
            return unresolved;
        });
    }

    /**
     * Returns the real path of a part of a volume that containers may write. Missing directories are created with the mode
     * of the volume.
     *
     * @param apart a directory on the same file system in which no container can change anything; null if there is none.
     *     Without it, new directories do not pass on their group
     * @throws IOException if the path leads out of the volume, cannot be created, or changed meanwhile
     */
    static Path of(Path volume, VolumeMountPoint mount, @Nullable Path apart) throws IOException {
        return guarded(volume, mount, () -> {
            Path root = volume.toRealPath();
            Path resolved = root;
            for (String name : names(mount)) {
                Path next = resolved.resolve(name);
                if (!Files.exists(next, LinkOption.NOFOLLOW_LINKS)) {
                    try (SecureDirectoryStream<Path> parent = open(root, resolved)) {
                        create(root, parent, Path.of(name), apart);
                    }
                }
                resolved = next.toRealPath();
                requireInside(resolved, root, mount, volume);
            }
            requireReached(root, resolved);
            return resolved;
        });
    }

    private static Iterable<String> names(VolumeMountPoint mount) throws IOException {
        Iterable<String> names = SLASHES.split(mount.subPath());
        for (String name : names) {
            if (name.equals("..")) {
                throw refused(mount, "must not contain '..'", null);
            }
        }
        return names;
    }

    private static void requireInside(Path path, Path root, VolumeMountPoint mount, Path volume) throws IOException {
        if (!path.startsWith(root)) {
            throw refused(mount, "leads out of the volume " + volume, null);
        }
    }

    private interface Resolution {
        Path make() throws IOException;
    }

    /** Replaces exceptions of the file system by ones that do not show the value of an expression. */
    private static Path guarded(Path volume, VolumeMountPoint mount, Resolution resolution) throws IOException {
        try {
            return resolution.make();
        } catch (FileSystemException | InvalidPathException e) {
            String reason = e instanceof FileSystemException failed && failed.getReason() != null
                    ? ": " + failed.getReason()
                    : "";
            throw refused(
                    mount,
                    "cannot be used in the volume " + volume + " ("
                            + e.getClass().getSimpleName() + reason + ")",
                    mount.subPathExpr().isEmpty() ? e : null);
        }
    }

    private static IOException refused(VolumeMountPoint mount, String why, @Nullable Exception cause) {
        return new IOException(mount.shownSubPath() + " " + why, cause);
    }

    /** Opens a directory below the root, which has no links in its path any more. */
    static SecureDirectoryStream<Path> open(Path root, Path directory) throws IOException {
        SecureDirectoryStream<Path> opened = Removal.open(root);
        if (directory.equals(root)) {
            return opened;
        }
        for (Path name : root.relativize(directory)) {
            try (SecureDirectoryStream<Path> parent = opened) {
                opened = Removal.open(parent, name);
            }
        }
        return opened;
    }

    private static void requireReached(Path root, Path path) throws IOException {
        if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
            open(root, path).close();
            return;
        }
        Path name = Objects.requireNonNull(path.getFileName());
        try (SecureDirectoryStream<Path> parent = open(root, Objects.requireNonNull(path.getParent()))) {
            boolean link = parent.getFileAttributeView(name, BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                    .readAttributes()
                    .isSymbolicLink();
            if (link) {
                throw new NoSuchFileException(path.toString(), null, "it was replaced by a link meanwhile");
            }
        }
    }

    /** Creates a directory in an open one. */
    private static void create(Path root, SecureDirectoryStream<Path> parent, Path name, @Nullable Path apart)
            throws IOException {
        int mode = (Integer) Files.getAttribute(root, "unix:mode") & ALL_MODE_BITS;
        Path made = apart == null
                ? Files.createDirectory(root.resolve("..subpath-" + UUID.randomUUID()))
                : Files.createTempDirectory(apart, "..subpath-");
        boolean moved = false;
        try (SecureDirectoryStream<Path> place = Removal.open(Objects.requireNonNull(made.getParent()))) {
            Path madeName = Objects.requireNonNull(made.getFileName());
            if (apart == null) {
                place.getFileAttributeView(madeName, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                        .setPermissions(AtomicWriter.permissions(mode));
            } else {
                copyGroup(root, made);
                Files.setAttribute(made, "unix:mode", mode);
            }
            place.move(madeName, parent, name);
            moved = true;
        } finally {
            if (!moved) {
                Files.deleteIfExists(made);
            }
        }
    }

    /** A directory in one that passes its group on gets that group, which a move does not do. */
    private static void copyGroup(Path root, Path made) throws IOException {
        Object group = Files.getAttribute(root, "unix:gid");
        if (!group.equals(Files.getAttribute(made, "unix:gid"))) {
            Files.setAttribute(made, "unix:gid", group, LinkOption.NOFOLLOW_LINKS);
        }
    }
}
