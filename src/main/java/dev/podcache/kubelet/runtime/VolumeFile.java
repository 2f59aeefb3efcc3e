package dev.podcache.kubelet.runtime;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A file of a volume: its content and its permissions. Immutable; its text form tells neither more than the size. */
public final class VolumeFile {

    private static final int ALL = 0777;

    private final byte[] bytes;
    private final int mode;

    private VolumeFile(byte[] bytes, int mode) {
        this.bytes = bytes;
        this.mode = mode;
    }

    /**
     * A file.
     *
     * @param bytes its content, which is copied
     * @param mode its permission bits, at most 0777
     * @throws IllegalArgumentException if there are other bits in {@code mode}
     */
    public static VolumeFile of(byte[] bytes, int mode) {
        if ((mode & ~ALL) != 0) {
            throw new IllegalArgumentException("mode 0" + Integer.toOctalString(mode)
                    + " of a file is not possible: give permission bits from 0 to 0777");
        }
        return new VolumeFile(bytes.clone(), mode);
    }

    /** A copy of the content. */
    public byte[] bytes() {
        return bytes.clone();
    }

    /** How many bytes. */
    public int size() {
        return bytes.length;
    }

    /** The permission bits. */
    public int mode() {
        return mode;
    }

    public boolean holds(byte[] content) {
        return Arrays.equals(bytes, content);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof VolumeFile that && mode == that.mode && Arrays.equals(bytes, that.bytes);
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
