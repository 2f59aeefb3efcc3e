package dev.podcache.kubelet.nodestatus;

import java.util.function.Supplier;

/**
 * Whose versions a node shows.
 *
 * @param kubelet the version that {@code kubectl get nodes} shows, such as {@code v1.34.2}
 * @param runtimeType such as {@code containerd}
 * @param runtimeVersion asked before every report, may block; an exception is logged, and the version {@code Unknown}
 */
public record NodeVersions(String kubelet, String runtimeType, Supplier<String> runtimeVersion) {}
