package dev.podcache.kubelet.podconfig;

import com.google.common.base.Splitter;
import io.fabric8.kubernetes.api.model.HostPathVolumeSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * Checks the {@code type} of a {@code hostPath} volume. Follows {@code checkTypeInternal} of the kubelet's {@code
 * pkg/volume/hostpath}.
 */
final class HostPathType {

    private static final Splitter SLASHES = Splitter.on('/');
    private static final int TYPE_BITS = 0170000;
    private static final int SOCKET = 0140000;
    private static final int REGULAR = 0100000;
    private static final int BLOCK_DEVICE = 0060000;
    private static final int DIRECTORY = 0040000;
    private static final int CHARACTER_DEVICE = 0020000;
    private static final int DIRECTORY_MODE = 0755;
    private static final int FILE_MODE = 0644;

    private HostPathType() {}

    /**
     * Creates a missing directory or file if the type asks for it, and checks the type.
     *
     * @throws IOException if the path is not of the type
     */
    static void check(HostPathVolumeSource source) throws IOException {
        String text = Nullables.orEmpty(source.getPath());
        if (SLASHES.splitToList(text).contains("..")) {
            throw new IOException("invalid HostPath `" + text + "`: must not contain '..'");
        }
        Path path = Path.of(text);
        String type = Nullables.orEmpty(source.getType());
        switch (type) {
            case "" -> {}
            case "DirectoryOrCreate" -> {
                if (!Files.exists(path)) {
                    Files.createDirectories(path);
                    Files.setPosixFilePermissions(path, AtomicWriter.permissions(DIRECTORY_MODE));
                }
                require(path, DIRECTORY, "a directory");
            }
            case "FileOrCreate" -> {
                if (!Files.exists(path)) {
                    Files.createFile(path);
                    Files.setPosixFilePermissions(path, AtomicWriter.permissions(FILE_MODE));
                }
                require(path, REGULAR, "a file");
            }
            case "Directory" -> require(path, DIRECTORY, "a directory");
            case "File" -> require(path, REGULAR, "a file");
            case "Socket" -> require(path, SOCKET, "a socket file");
            case "CharDevice" -> require(path, CHARACTER_DEVICE, "a character device");
            case "BlockDevice" -> require(path, BLOCK_DEVICE, "a block device");
            default -> throw new IOException(type + " is an invalid volume type");
        }
    }

    private static void require(Path path, int expected, String name) throws IOException {
        int found;
        try {
            found = (Integer) Files.getAttribute(path, "unix:mode") & TYPE_BITS;
        } catch (NoSuchFileException e) {
            found = 0;
        }
        if (found != expected) {
            throw new IOException("hostPath type check failed: " + path + " is not " + name);
        }
    }
}
