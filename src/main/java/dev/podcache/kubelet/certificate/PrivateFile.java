package dev.podcache.kubelet.certificate;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Objects;
import java.util.Set;

/** Writes files that only their owner can read. */
public final class PrivateFile {

    private PrivateFile() {}

    /**
     * Creates or replaces a file in one step: at any time, and after a crash, the file is complete. Creates its directory.
     * Blocks until the content is on the disk.
     */
    public static void replace(Path file, String text) throws IOException {
        Path directory = Objects.requireNonNull(file.toAbsolutePath().getParent(), "the root is no file");
        Files.createDirectories(directory);
        Path next = file.resolveSibling(file.getFileName() + ".next");
        Files.deleteIfExists(next);
        Set<StandardOpenOption> create = Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        try (FileChannel channel = FileChannel.open(next, create, ownerOnly(directory))) {
            ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            // otherwise the file may be empty after a power failure
            channel.force(true);
        }
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private static FileAttribute<?>[] ownerOnly(Path directory) throws IOException {
        return Files.getFileStore(directory).supportsFileAttributeView("posix")
                ? new FileAttribute<?>[] {
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
                }
                : new FileAttribute<?>[0];
    }
}
