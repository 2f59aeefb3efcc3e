package dev.podcache.kubelet.probe;

import java.time.Duration;
import java.util.Optional;

/**
 * The reason why a container must be restarted: its liveness or startup probe failed. Immutable.
 *
 * @param kind {@code LIVENESS} or {@code STARTUP}
 * @param message the kubelet's message for the container's Killing event, such as {@code Container main failed liveness
 *     probe}
 * @param gracePeriod the probe's own grace period for stopping the container; if empty, the pod's applies
 */
public record FailedProbe(ProbeKind kind, String message, Optional<Duration> gracePeriod) {}
