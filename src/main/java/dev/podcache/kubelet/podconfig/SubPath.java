package dev.podcache.kubelet.podconfig;

import com.google.common.base.Splitter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * Resolves the subPath of a mount. Follows {@code pkg/volume/util/subpath} in what it allows: symbolic links within the
 * volume, and no other way out of it.
 */
final class SubPath {

    private static final Splitter SLASHES = Splitter.on('/').omitEmptyStrings();
    private static final int ALL_MODE_BITS = 07777;

    private SubPath() {}

    /**
     * Returns the path of a part of a volume.
     *
     * @param payload whether the volume has only files that we write. Then nothing is created, and the path leads through
     *     the volume's links, so that it shows later versions of a file; otherwise missing directories are created with
     *     the mode of the volume, and links are resolved
     * @throws IOException if the path leads out of the volume, or does not exist and cannot be created
     */
    static Path of(Path volume, String subPath, boolean payload) throws IOException {
        Path root = volume.toRealPath();
        Path resolved = root;
        Path unresolved = volume;
        for (String name : SLASHES.split(subPath)) {
            if (name.equals("..")) {
                throw new IOException("subPath \"" + subPath + "\" must not contain '..'");
            }
            unresolved = unresolved.resolve(name);
            Path next = resolved.resolve(name);
            if (!Files.exists(next, LinkOption.NOFOLLOW_LINKS)) {
                create(root, next, payload);
            }
            resolved = next.toRealPath();
            if (!resolved.startsWith(root)) {
                throw new IOException("subPath \"" + subPath + "\" leads out of the volume " + volume);
            }
        }
        return payload ? unresolved : resolved;
    }

    private static void create(Path root, Path directory, boolean payload) throws IOException {
        if (payload) {
            throw new NoSuchFileException(directory.toString(), null, "the volume has no such file");
        }
        Files.createDirectory(directory);
        Files.setAttribute(directory, "unix:mode", (Integer) Files.getAttribute(root, "unix:mode") & ALL_MODE_BITS);
    }
}
