package dev.podcache.kubelet.podconfig;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayDeque;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Deletes a directory that containers could write, however deep it is. Follows no symbolic link, also not one that is put
 * in the place of a directory meanwhile. Adds missing permissions of this process's user. For one use; not thread-safe.
 */
public final class Removal {

    /*
     * Directories are opened by descriptor, without following links. A directory in a directory is first moved to the top
     * one, so no path is longer than two names, no more than three directories are open, and nothing is recursive.
     *
     * A failure does not keep the rest from being deleted. The files of the top directory come last: they say whose
     * directory it is, as long as a part of it is left.
     */

    private static final Set<PosixFilePermission> OWN = EnumSet.of(
            PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE, PosixFilePermission.OWNER_EXECUTE);

    private final Path top;
    private final String prefix = "..removed-" + UUID.randomUUID() + "-";
    private final Queue<Path> directories = new ArrayDeque<>(); // names in the top directory
    private final Queue<Path> files = new ArrayDeque<>(); // names in the top directory
    private long moved;
    private @Nullable IOException failure;

    private Removal(Path top) {
        this.top = top;
    }

    /**
     * Deletes a directory, or the file or link of this name. Has no effect if there is none. Blocks while it uses the file
     * system. No parent of it may be changed by a container.
     *
     * @throws IOException if something is left; its suppressed exceptions are the further failures
     */
    public static void of(Path directory) throws IOException {
        if (Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
            new Removal(directory).run();
        } else {
            Files.deleteIfExists(directory);
        }
    }

    /** Opens a directory whose path has no links that a container can change. */
    @SuppressWarnings("StreamResourceLeak") // the caller closes it
    static SecureDirectoryStream<Path> open(Path directory) throws IOException {
        DirectoryStream<Path> opened = Files.newDirectoryStream(directory);
        if (opened instanceof SecureDirectoryStream<Path> secure) {
            return secure;
        }
        opened.close();
        throw new IOException("this platform cannot open directories by descriptor, which volumes need: " + directory);
    }

    /**
     * Opens a directory in another one. Neither follows a link nor waits for the other end of a pipe that a container puts in its
     * place meanwhile.
     */
    static SecureDirectoryStream<Path> open(SecureDirectoryStream<Path> parent, Path name) throws IOException {
        // the dot can be opened in a directory only, and so not in a pipe. But it follows a link to the directory, so
        // what was opened must be what has the name
        SecureDirectoryStream<Path> opened = parent.newDirectoryStream(name.resolve("."), LinkOption.NOFOLLOW_LINKS);
        try {
            Object named = parent.getFileAttributeView(name, BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                    .readAttributes()
                    .fileKey();
            if (named.equals(opened.getFileAttributeView(BasicFileAttributeView.class)
                    .readAttributes()
                    .fileKey())) {
                return opened;
            }
        } catch (IOException | RuntimeException e) {
            opened.close();
            throw e;
        }
        opened.close();
        throw new FileSystemException(name.toString(), null, "a link is in its place");
    }

    private void run() throws IOException {
        permit(top);
        try (SecureDirectoryStream<Path> opened = open(top)) {
            sort(opened);
            for (Path name = directories.poll(); name != null; name = directories.poll()) {
                remove(opened, name);
            }
            if (failure == null) {
                for (Path file : files) {
                    attempt(() -> opened.deleteFile(file));
                }
            }
        } catch (NoSuchFileException gone) {
            return;
        }
        if (failure == null) {
            attempt(() -> Files.delete(top));
        }
        if (failure != null) {
            throw failure;
        }
    }

    private void sort(SecureDirectoryStream<Path> opened) throws IOException {
        try {
            for (Path entry : opened) {
                Path name = Objects.requireNonNull(entry.getFileName());
                attempt(() -> (isDirectory(opened, name) ? directories : files).add(name));
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
    }

    /** Deletes a directory in the top one, and moves those in it to the top. */
    private void remove(SecureDirectoryStream<Path> parent, Path name) {
        attempt(() -> {
            try (SecureDirectoryStream<Path> opened = openPermitted(parent, name)) {
                for (Path entry : opened) {
                    Path child = Objects.requireNonNull(entry.getFileName());
                    attempt(() -> removeChild(parent, name, opened, child));
                }
            } catch (DirectoryIteratorException e) {
                throw e.getCause();
            }
            parent.deleteDirectory(name);
        });
    }

    private void removeChild(
            SecureDirectoryStream<Path> parent, Path name, SecureDirectoryStream<Path> opened, Path child)
            throws IOException {
        if (!isDirectory(opened, child)) {
            opened.deleteFile(child);
            return;
        }
        Path target = name.resolveSibling(prefix + moved++);
        try {
            opened.move(child, parent, target);
        } catch (AccessDeniedException e) {
            // the entry ".." of the moved directory changes, so it must be writable
            permit(top.resolve(name).resolve(child));
            opened.move(child, parent, target);
        }
        directories.add(target);
    }

    private SecureDirectoryStream<Path> openPermitted(SecureDirectoryStream<Path> parent, Path name)
            throws IOException {
        SecureDirectoryStream<Path> opened;
        try {
            opened = open(parent, name);
        } catch (AccessDeniedException e) {
            permit(top.resolve(name));
            opened = open(parent, name);
        }
        permit(opened.getFileAttributeView(PosixFileAttributeView.class));
        return opened;
    }

    private static boolean isDirectory(SecureDirectoryStream<Path> opened, Path name) throws IOException {
        return opened.getFileAttributeView(name, BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                .readAttributes()
                .isDirectory();
    }

    /**
     * Permits everything to the owner of a directory that cannot be opened. Java changes permissions by a descriptor only if
     * it can open the file; so this is by name, after a look that it is no link. It needs the owner of the directory, and
     * adds permissions of that owner alone.
     */
    private static void permit(Path directory) throws IOException {
        PosixFileAttributes attributes =
                Files.readAttributes(directory, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        if (attributes.isDirectory() && !attributes.permissions().containsAll(OWN)) {
            Files.setPosixFilePermissions(directory, with(attributes.permissions()));
        }
    }

    private static void permit(PosixFileAttributeView directory) throws IOException {
        Set<PosixFilePermission> permissions = directory.readAttributes().permissions();
        if (!permissions.containsAll(OWN)) {
            directory.setPermissions(with(permissions));
        }
    }

    private static Set<PosixFilePermission> with(Set<PosixFilePermission> permissions) {
        Set<PosixFilePermission> all = EnumSet.copyOf(OWN);
        all.addAll(permissions);
        return all;
    }

    private interface RemovalStep {
        void run() throws IOException;
    }

    private void attempt(RemovalStep step) {
        try {
            step.run();
        } catch (NoSuchFileException gone) {
            // deleted by another
        } catch (IOException e) {
            if (failure == null) {
                failure = new IOException("not everything in " + top + " was deleted: " + e, e);
            } else if (failure.getSuppressed().length < 10) {
                failure.addSuppressed(e);
            }
        }
    }
}
