package dev.podcache.kubelet.eviction;

import com.google.common.collect.ImmutableList;

/** The kinds of pressure on a node, with the texts that the API has for each. */
public enum PressureType {
    MEMORY(
            "MemoryPressure",
            ImmutableList.of(EvictionSignal.MEMORY_AVAILABLE),
            new Wording(
                    "KubeletHasInsufficientMemory",
                    "kubelet has insufficient memory available",
                    "NodeHasInsufficientMemory"),
            new Wording(
                    "KubeletHasSufficientMemory",
                    "kubelet has sufficient memory available",
                    "NodeHasSufficientMemory")),
    DISK(
            "DiskPressure",
            ImmutableList.of(
                    EvictionSignal.NODE_FS_AVAILABLE,
                    EvictionSignal.NODE_FS_INODES_FREE,
                    EvictionSignal.IMAGE_FS_AVAILABLE,
                    EvictionSignal.IMAGE_FS_INODES_FREE),
            new Wording("KubeletHasDiskPressure", "kubelet has disk pressure", "NodeHasDiskPressure"),
            new Wording("KubeletHasNoDiskPressure", "kubelet has no disk pressure", "NodeHasNoDiskPressure")),
    PID(
            "PIDPressure",
            ImmutableList.of(EvictionSignal.PID_AVAILABLE),
            new Wording(
                    "KubeletHasInsufficientPID", "kubelet has insufficient PID available", "NodeHasInsufficientPID"),
            new Wording("KubeletHasSufficientPID", "kubelet has sufficient PID available", "NodeHasSufficientPID"));

    /** Reason and message of the condition in one state, and the reason of the event when it changes to that state. */
    public record Wording(String reason, String message, String event) {}

    private final String condition;
    private final ImmutableList<EvictionSignal> signals;

    @SuppressWarnings("ImmutableEnumChecker") // a record of strings is immutable
    private final Wording under;

    @SuppressWarnings("ImmutableEnumChecker")
    private final Wording free;

    PressureType(String condition, ImmutableList<EvictionSignal> signals, Wording under, Wording free) {
        this.condition = condition;
        this.signals = signals;
        this.under = under;
        this.free = free;
    }

    /** Returns the type of the Node's condition, such as {@code MemoryPressure}. */
    public String condition() {
        return condition;
    }

    /** Returns the signals, each of which alone causes this pressure. */
    ImmutableList<EvictionSignal> signals() {
        return signals;
    }

    /** Returns the texts for a node with or without this pressure. */
    public Wording wording(boolean pressure) {
        return pressure ? under : free;
    }
}
