package dev.podcache.kubelet.process;

import dev.podcache.kubelet.runtime.Launch;
import dev.podcache.kubelet.runtime.Launch.VolumeMountPoint;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

/**
 * The root directory of a container. A process has no mount namespace, so a volume with {@code mountPath: /etc/tls} is a
 * symbolic link {@code etc/tls} in the root, and {@code workingDir: /app} is the directory {@code app}.
 */
final class ContainerRoot {

    private ContainerRoot() {}

    /** Finds the directory or file of a mounted volume. */
    interface VolumePaths {
        Path of(VolumeMountPoint mount) throws IOException;
    }

    /**
     * Creates the root with its links and the working directory. Returns the working directory.
     *
     * @throws IOException if a path is not below the root, or is below the path of another mount
     */
    static Path create(Path root, Launch launch, VolumePaths volumes) throws IOException {
        Files.createDirectory(root);
        for (VolumeMountPoint mount : launch.mounts()) {
            Path link = inside(root, mount.path(), "mountPath");
            refuseNested(root, link, mount.path());
            Files.createDirectories(Objects.requireNonNull(link.getParent()));
            createLink(link, volumes.of(mount), mount);
        }
        Path working =
                launch.workingDirectory().isEmpty() ? root : inside(root, launch.workingDirectory(), "workingDir");
        if (!Files.isDirectory(working)) {
            Files.createDirectories(working);
        }
        return working;
    }

    private static void createLink(Path link, Path target, VolumeMountPoint mount) throws IOException {
        try {
            Files.createSymbolicLink(link, target);
        } catch (FileSystemException e) {
            // its message names the target, which may contain the value of a Secret
            throw new IOException("volume " + mount.volume() + " cannot be mounted at " + mount.path() + ": "
                    + e.getClass().getSimpleName() + (e.getReason() == null ? "" : ": " + e.getReason()));
        }
    }

    private static Path inside(Path root, String path, String field) throws IOException {
        Path inside = Path.of(root + "/" + path).normalize();
        if (!inside.startsWith(root)) {
            throw new IOException(field + " must not lead above /, but is " + path);
        }
        return inside;
    }

    /** A link in another link would appear in the volume. */
    private static void refuseNested(Path root, Path link, String path) throws IOException {
        if (Files.exists(link)) {
            throw new IOException("mountPath " + path + " is in use by another mount or lies above one; processes"
                    + " have no mount namespaces, so mount paths must not contain each other");
        }
        for (Path parent = link; !parent.equals(root); parent = Objects.requireNonNull(parent.getParent())) {
            if (Files.isSymbolicLink(parent)) {
                throw new IOException("mountPath " + path + " lies in that of another mount; processes have no mount"
                        + " namespaces, so mount paths must not contain each other");
            }
        }
    }
}
