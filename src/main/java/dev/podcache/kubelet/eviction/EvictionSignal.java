package dev.podcache.kubelet.eviction;

import com.google.common.collect.ImmutableMap;
import dev.podcache.kubelet.host.HostFacts;
import dev.podcache.kubelet.host.HostFacts.Supply;
import dev.podcache.object.Quoted;
import java.util.Arrays;
import java.util.Optional;

/**
 * A resource that may run short on a node, with its name in {@code evictionHard}. Images are assumed to be on the file
 * system that pods write to, as the kubelet assumes for a runtime without a separate image file system.
 */
public enum EvictionSignal {
    MEMORY_AVAILABLE("memory.available"),
    NODE_FS_AVAILABLE("nodefs.available"),
    NODE_FS_INODES_FREE("nodefs.inodesFree"),
    IMAGE_FS_AVAILABLE("imagefs.available"),
    IMAGE_FS_INODES_FREE("imagefs.inodesFree"),
    PID_AVAILABLE("pid.available");

    private static final ImmutableMap<String, EvictionSignal> BY_NAME =
            Arrays.stream(values()).collect(ImmutableMap.toImmutableMap(EvictionSignal::toString, signal -> signal));

    private final String text;

    EvictionSignal(String text) {
        this.text = text;
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
                    + String.join(", ", BY_NAME.keySet()));
        }
        return signal;
    }

    /** Reads capacity and availability from the machine; empty if they cannot be read. */
    Optional<Supply> read(HostFacts facts) {
        return switch (this) {
            case MEMORY_AVAILABLE -> facts.memory();
            case NODE_FS_AVAILABLE, IMAGE_FS_AVAILABLE -> facts.fileSystemBytes();
            case NODE_FS_INODES_FREE, IMAGE_FS_INODES_FREE -> facts.fileSystemInodes();
            case PID_AVAILABLE -> facts.processIds();
        };
    }

    /** Returns the name, such as {@code memory.available}. */
    @Override
    public String toString() {
        return text;
    }
}
