package dev.podcache.kubelet.podconfig;

import com.google.common.io.ByteStreams;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.FileSystemException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.util.Objects;
import java.util.Set;

/** Reads files that a container may replace at any moment, also by a link or a pipe. Has no state. */
public final class ContainerFile {

    private ContainerFile() {}

    /**
     * Returns the end of a file; empty if it is no regular one. Follows no link below the root. Blocks as {@link #open} does.
     *
     * @param root a path that no container can change
     * @param longest how many bytes are read at most
     * @throws FileSystemException if the file is missing or may not be read, or if its path has a link or leads through a file
     * @throws IOException if reading fails
     */
    public static byte[] end(Path root, Path file, int longest) throws IOException {
        Path name = Objects.requireNonNull(file.getFileName());
        try (SecureDirectoryStream<Path> parent = SubPath.open(root, Objects.requireNonNull(file.getParent()))) {
            boolean regular = parent.getFileAttributeView(name, BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                    .readAttributes()
                    .isRegularFile();
            return regular ? end(parent, name, longest) : new byte[0];
        }
    }

    static byte[] end(SecureDirectoryStream<Path> parent, Path name, int longest) throws IOException {
        try (SeekableByteChannel channel = open(parent, name);
                InputStream in = Channels.newInputStream(channel)) {
            long size = channel.size();
            if (size == 0) {
                // so it is with a pipe, which has no position either
                return new byte[0];
            }
            channel.position(Math.max(0, size - longest));
            return ByteStreams.limit(in, longest).readAllBytes();
        }
    }

    /**
     * Opens a file that was just seen to be a regular one. A container may have put a pipe in its place. A pipe that is opened for
     * reading and writing waits for nobody, and the channel has the size 0. A pipe that this process may only read blocks this
     * call until somebody else opens it for writing.
     */
    static SeekableByteChannel open(SecureDirectoryStream<Path> parent, Path name) throws IOException {
        try {
            return parent.newByteChannel(
                    name, Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS));
        } catch (FileSystemException e) {
            // this process may not write it, or nobody may now
            return parent.newByteChannel(name, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS));
        }
    }
}
