package dev.podcache.kubelet.nodestatus;

import java.util.function.Supplier;

/**
 * The software versions in a Node's status.
 *
 * @param kubelet the kubelet's version, which {@code kubectl get nodes} shows, such as {@code v1.34.2}
 * @param runtimeType the name of the container runtime, such as {@code containerd}
 * @param runtimeVersion returns the runtime's version; called whenever the status is computed; must not block or throw
 */
public record NodeVersions(String kubelet, String runtimeType, Supplier<String> runtimeVersion) {}
