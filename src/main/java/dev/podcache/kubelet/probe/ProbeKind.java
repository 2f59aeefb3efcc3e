package dev.podcache.kubelet.probe;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Probe;
import org.jspecify.annotations.Nullable;

/** The three probes that a container may have. */
public enum ProbeKind {
    /** A container whose liveness probe fails is restarted. */
    LIVENESS("Liveness", ProbeResult.SUCCESS),

    /** A container whose readiness probe fails is not ready. */
    READINESS("Readiness", ProbeResult.FAILURE),

    /** The other probes wait until the startup probe succeeds. A container whose startup probe fails is restarted. */
    STARTUP("Startup", ProbeResult.UNKNOWN);

    private final String text;
    private final ProbeResult initial;

    ProbeKind(String text, ProbeResult initial) {
        this.text = text;
        this.initial = initial;
    }

    /** Returns the result until the first probe has a result. */
    ProbeResult initial() {
        return initial;
    }

    /** Returns the probe of this kind; null if the container has none. */
    @Nullable
    Probe of(Container container) {
        return switch (this) {
            case LIVENESS -> container.getLivenessProbe();
            case READINESS -> container.getReadinessProbe();
            case STARTUP -> container.getStartupProbe();
        };
    }

    /** Returns the name in events, such as {@code Liveness}. */
    @Override
    public String toString() {
        return text;
    }
}
