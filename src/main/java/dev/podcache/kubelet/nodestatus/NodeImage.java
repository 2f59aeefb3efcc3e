package dev.podcache.kubelet.nodestatus;

import com.google.common.collect.ImmutableList;

/**
 * An image that is present on a node.
 *
 * @param repoDigests its names by content, such as {@code registry.k8s.io/pause@sha256:...}
 * @param repoTags its names by tag, such as {@code registry.k8s.io/pause:3.9}
 * @param sizeBytes what it takes on disk
 */
public record NodeImage(ImmutableList<String> repoDigests, ImmutableList<String> repoTags, long sizeBytes) {}
