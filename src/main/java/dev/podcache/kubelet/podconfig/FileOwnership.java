package dev.podcache.kubelet.podconfig;

import dev.podcache.kubelet.runtime.VolumeFile;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSecurityContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The owner and group of the files of one volume. What the process may not set stays as it is. Immutable.
 *
 * <p>Follows {@code SetVolumeOwnership} of {@code pkg/volume/volume_linux.go}: with an fsGroup, files belong to the group
 * and are readable by it, directories pass the group on to new files. Unlike upstream, it changes nothing if the group
 * cannot be set.
 */
final class FileOwnership {

    /** Leaves owner and group as they are. */
    static final FileOwnership NONE = new FileOwnership(null, Set.of());

    private static final Logger log = LoggerFactory.getLogger(VolumeDirectory.class);
    private static final int READ = 0440;
    private static final int READ_WRITE = 0660;
    private static final int ENTER_AND_PASS_GROUP_ON = 02110;
    private static final int ALL_MODE_BITS = 07777;

    private final @Nullable Integer group;
    private final Set<String> logged;

    private FileOwnership(@Nullable Integer group, Set<String> logged) {
        this.group = group;
        this.logged = logged;
    }

    /**
     * Returns the ownership for a volume: with the pod's fsGroup, if the process may set it on {@code directory}.
     *
     * @param logged the attributes for which a missing permission was already logged; thread-safe
     */
    static FileOwnership of(Pod pod, Path directory, Set<String> logged) throws IOException {
        PodSecurityContext context = pod.getSpec().getSecurityContext();
        Long fsGroup = context == null ? null : context.getFsGroup();
        if (fsGroup == null) {
            return new FileOwnership(null, logged);
        }
        int group = unsigned(fsGroup);
        boolean permitted = set(directory, "unix:gid", group, "fsGroup " + fsGroup, logged);
        return new FileOwnership(permitted ? group : null, logged);
    }

    /** Returns the file with the permissions that the group needs. */
    VolumeFile adjusted(VolumeFile file) {
        return group == null ? file : file.withPermissions(READ);
    }

    /** Sets the owner and group of a new file. */
    void applyTo(Path path, VolumeFile file) throws IOException {
        if (group != null) {
            Files.setAttribute(path, "unix:gid", group, LinkOption.NOFOLLOW_LINKS);
        }
        if (file.owner().isPresent()) {
            long owner = file.owner().getAsLong();
            set(path, "unix:uid", unsigned(owner), "runAsUser " + owner, logged);
        }
    }

    /** Sets the group of a directory whose files only we write. */
    void applyToDirectory(Path directory) throws IOException {
        apply(directory, READ | ENTER_AND_PASS_GROUP_ON);
    }

    /** Sets the group of a directory in which containers write. */
    void applyToWritableDirectory(Path directory) throws IOException {
        apply(directory, READ_WRITE | ENTER_AND_PASS_GROUP_ON);
    }

    private void apply(Path directory, int added) throws IOException {
        if (group != null) {
            Files.setAttribute(directory, "unix:gid", group, LinkOption.NOFOLLOW_LINKS);
            // after the group, because a change of the group may clear the bit that passes it on
            int mode = (Integer) Files.getAttribute(directory, "unix:mode", LinkOption.NOFOLLOW_LINKS);
            Files.setAttribute(directory, "unix:mode", (mode & ALL_MODE_BITS) | added);
        }
    }

    /** Returns false if the process lacks the permission, and logs that the first time. */
    private static boolean set(Path path, String attribute, int value, String what, Set<String> logged)
            throws IOException {
        if (value == (Integer) Files.getAttribute(path, attribute, LinkOption.NOFOLLOW_LINKS)) {
            return true;
        }
        try {
            Files.setAttribute(path, attribute, value, LinkOption.NOFOLLOW_LINKS);
            return true;
        } catch (IOException e) {
            if (logged.add(attribute)) {
                log.warn(
                        "cannot set {} of volume files ({}): this process needs the capability CAP_CHOWN, or must be a"
                                + " member of the group; files keep the owner and group of this process, not logged again",
                        what,
                        e.getMessage());
            }
            return false;
        }
    }

    /** IDs are unsigned 32-bit numbers. */
    private static int unsigned(long id) {
        return (int) id;
    }
}
