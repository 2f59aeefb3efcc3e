package dev.podcache.kubelet.probe;

import dev.podcache.object.PodKey;

/**
 * A changed result of a container's probe. Immutable.
 *
 * @param container the name of the container
 * @param success whether the probe succeeds from now on
 * @param message the output of the check that changed the result, such as {@code HTTP probe failed with statuscode:
 *     500}; may be empty
 */
public record ProbeChange(PodKey pod, String container, ProbeKind kind, boolean success, String message) {}
