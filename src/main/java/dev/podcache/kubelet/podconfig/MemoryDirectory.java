package dev.podcache.kubelet.podconfig;

import dev.podcache.object.Quoted;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/** Checks the directory that keeps Secrets off the disk. Other users may be able to create files in its parent. */
final class MemoryDirectory {

    private static final Set<String> IN_MEMORY = Set.of("tmpfs", "ramfs");
    private static final String PRIVATE = "rwxr-x---";

    private MemoryDirectory() {}

    /**
     * Creates the directory if it does not exist, and makes it private. Nothing is changed before it is clear that it is ours.
     *
     * @throws IOException if Secrets in it could reach a disk or another user; the message says what to do
     */
    static void prepare(Path memory) throws IOException {
        try {
            if (!Files.exists(memory, LinkOption.NOFOLLOW_LINKS)) {
                Files.createDirectories(
                        memory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(PRIVATE)));
            }
            if (!Files.isDirectory(memory, LinkOption.NOFOLLOW_LINKS)) {
                throw refused(memory, "is a link or no directory");
            }
            if (!Files.getAttribute(memory, "unix:uid", LinkOption.NOFOLLOW_LINKS)
                    .equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid"))) {
                throw refused(memory, "belongs to another user");
            }
            if (!IN_MEMORY.contains(Files.getFileStore(memory).type())) {
                throw refused(memory, "is on a disk, not on a tmpfs");
            }
            // by descriptor: a link that was put in its place meanwhile is not followed
            Files.getFileAttributeView(memory, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                    .setPermissions(PosixFilePermissions.fromString(PRIVATE));
            Files.delete(Files.createTempFile(memory, "writable", ""));
        } catch (MemoryDirectoryException e) {
            throw e;
        } catch (IOException | UnsupportedOperationException | IllegalArgumentException e) {
            throw refused(memory, "cannot be used (" + e + ")");
        }
    }

    private static final class MemoryDirectoryException extends IOException {

        private static final long serialVersionUID = 1;

        MemoryDirectoryException(String message) {
            super(message);
        }
    }

    private static MemoryDirectoryException refused(Path memory, String why) {
        return new MemoryDirectoryException("the memory directory " + Quoted.value(memory.toString()) + " " + why
                + ", so Secrets are not written; name a directory of this user on a tmpfs, such as /dev/shm/podcache,"
                + " or leave it out to keep Secrets on the disk");
    }
}
