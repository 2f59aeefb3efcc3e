package dev.podcache.kubelet.runtime;

import java.util.Arrays;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** A file of a volume: its content, permissions and owner. Immutable. {@link #toString} does not show the content. */
public final class VolumeFile {

    private static final int PERMISSION_BITS = 0777;

    private final byte[] bytes;
    private final int mode;
    private final OptionalLong owner;

    private VolumeFile(byte[] bytes, int mode, OptionalLong owner) {
        this.bytes = bytes;
        this.mode = mode;
        this.owner = owner;
    }

    /**
     * Returns a file with this content and these permissions.
     *
     * @param bytes the content; copied
     * @param mode the permission bits, at most 0777
     * @throws IllegalArgumentException if {@code mode} has other bits
     */
    public static VolumeFile of(byte[] bytes, int mode) {
        if ((mode & ~PERMISSION_BITS) != 0) {
            throw new IllegalArgumentException("mode must be from 0 to 0777, but is 0" + Integer.toOctalString(mode));
        }
        return new VolumeFile(bytes.clone(), mode, OptionalLong.empty());
    }

    /** Returns this file, to be owned by the user with this numeric ID. */
    public VolumeFile ownedBy(long user) {
        return new VolumeFile(bytes, mode, OptionalLong.of(user));
    }

    /** Returns this file with these permission bits in addition to its own. */
    public VolumeFile withPermissions(int added) {
        return new VolumeFile(bytes, mode | (added & PERMISSION_BITS), owner);
    }

    /** Returns a copy of the content. */
    public byte[] bytes() {
        return bytes.clone();
    }

    /** Returns the size of the content in bytes. */
    public int size() {
        return bytes.length;
    }

    /** Returns the permission bits. */
    public int mode() {
        return mode;
    }

    /**
     * Returns the numeric ID of the user that should own the file. Empty for the process that writes it, as for all
     * files except ServiceAccount tokens and trust bundles of a pod whose containers all run as one user.
     */
    public OptionalLong owner() {
        return owner;
    }

    /** Returns whether the content equals {@code content}. */
    public boolean holds(byte[] content) {
        return Arrays.equals(bytes, content);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof VolumeFile that
                && mode == that.mode
                && owner.equals(that.owner)
                && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(bytes) + mode;
    }

    @Override
    public String toString() {
        return bytes.length + " bytes, mode 0" + Integer.toOctalString(mode);
    }
}
