package dev.podcache.kubelet.eviction;

/** The kinds of pressure on a node, with the texts that the API has for each. */
public enum PressureType {
    MEMORY(
            "MemoryPressure",
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
            new Wording("KubeletHasDiskPressure", "kubelet has disk pressure", "NodeHasDiskPressure"),
            new Wording("KubeletHasNoDiskPressure", "kubelet has no disk pressure", "NodeHasNoDiskPressure")),
    PID(
            "PIDPressure",
            new Wording(
                    "KubeletHasInsufficientPID", "kubelet has insufficient PID available", "NodeHasInsufficientPID"),
            new Wording("KubeletHasSufficientPID", "kubelet has sufficient PID available", "NodeHasSufficientPID"));

    /** Reason and message of the condition in one state, and the reason of the event when it changes to that state. */
    public record Wording(String reason, String message, String event) {}

    private final String condition;

    @SuppressWarnings("ImmutableEnumChecker") // a record of strings is immutable
    private final Wording under;

    @SuppressWarnings("ImmutableEnumChecker")
    private final Wording free;

    PressureType(String condition, Wording under, Wording free) {
        this.condition = condition;
        this.under = under;
        this.free = free;
    }

    /** Returns the type of the Node's condition, such as {@code MemoryPressure}. */
    public String condition() {
        return condition;
    }

    /** Returns the texts for a node with or without this pressure. */
    public Wording wording(boolean pressure) {
        return pressure ? under : free;
    }
}
