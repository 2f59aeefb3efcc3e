package dev.podcache.kubelet.eviction;

import com.google.common.collect.ImmutableMap;
import dev.podcache.object.Quoted;
import java.util.Arrays;

/** A resource that may run short on a node, with its name in {@code evictionHard}. */
public enum EvictionSignal {
    MEMORY_AVAILABLE("memory.available", PressureType.MEMORY, "memory", false),
    ALLOCATABLE_MEMORY_AVAILABLE("allocatableMemory.available", PressureType.MEMORY, "memory", true),
    NODE_FS_AVAILABLE("nodefs.available", PressureType.DISK, "ephemeral-storage", false),
    NODE_FS_INODES_FREE("nodefs.inodesFree", PressureType.DISK, "inodes", false),
    IMAGE_FS_AVAILABLE("imagefs.available", PressureType.DISK, "ephemeral-storage", false),
    IMAGE_FS_INODES_FREE("imagefs.inodesFree", PressureType.DISK, "inodes", false),
    CONTAINER_FS_AVAILABLE("containerfs.available", PressureType.DISK, "ephemeral-storage", true),
    CONTAINER_FS_INODES_FREE("containerfs.inodesFree", PressureType.DISK, "inodes", true),
    PID_AVAILABLE("pid.available", PressureType.PID, "pids", false);

    private static final ImmutableMap<String, EvictionSignal> BY_NAME =
            Arrays.stream(values()).collect(ImmutableMap.toImmutableMap(EvictionSignal::toString, signal -> signal));

    private final String text;
    private final PressureType pressure;
    private final String resource;
    private final boolean derived;

    EvictionSignal(String text, PressureType pressure, String resource, boolean derived) {
        this.text = text;
        this.pressure = pressure;
        this.resource = resource;
        this.derived = derived;
    }

    /**
     * Returns the signal called {@code name}.
     *
     * @throws IllegalArgumentException if there is none; the message lists the supported signals
     */
    static EvictionSignal named(String name) {
        EvictionSignal signal = BY_NAME.get(name);
        if (signal == null) {
            throw new IllegalArgumentException("unsupported eviction signal " + Quoted.value(name) + ": use one of "
                    + String.join(
                            ", ",
                            Arrays.stream(values())
                                    .filter(each -> !each.derived)
                                    .map(EvictionSignal::toString)
                                    .toList()));
        }
        return signal;
    }

    /** Returns the pressure that a node is under while a threshold of this signal is met. */
    PressureType pressure() {
        return pressure;
    }

    /** Returns the resource to reclaim: memory, ephemeral-storage, inodes or pids. */
    String resource() {
        return resource;
    }

    boolean isMemory() {
        return pressure == PressureType.MEMORY;
    }

    /** Returns whether this is about the file system of images. */
    boolean isOfImages() {
        return this == IMAGE_FS_AVAILABLE || this == IMAGE_FS_INODES_FREE;
    }

    /** Returns whether the thresholds of this signal follow those of another one, and cannot be configured. */
    boolean isDerived() {
        return derived;
    }

    /** Returns the name, such as {@code memory.available}. */
    @Override
    public String toString() {
        return text;
    }
}
