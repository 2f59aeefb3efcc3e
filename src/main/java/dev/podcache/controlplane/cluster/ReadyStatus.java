package dev.podcache.controlplane.cluster;

import io.fabric8.kubernetes.api.model.NodeCondition;
import org.jspecify.annotations.Nullable;

/** The status of a node's condition Ready. */
public enum ReadyStatus {
    TRUE,
    FALSE,
    UNKNOWN,
    /** The node has no such condition. */
    ABSENT;

    /** Returns the status of {@code ready}; {@link #UNKNOWN} for a status that the API does not define. */
    public static ReadyStatus of(@Nullable NodeCondition ready) {
        if (ready == null) {
            return ABSENT;
        }
        return switch (String.valueOf(ready.getStatus())) {
            case "True" -> TRUE;
            case "False" -> FALSE;
            default -> UNKNOWN;
        };
    }
}
