package dev.podcache.kubelet.nodestatus;

import java.util.List;

/**
 * An image that is present on a node. Immutable.
 *
 * @param repoDigests the image's names with a digest, such as {@code registry.k8s.io/pause@sha256:...}
 * @param repoTags the image's names with a tag, such as {@code registry.k8s.io/pause:3.9}
 * @param sizeBytes the image's size on disk
 */
public record NodeImage(List<String> repoDigests, List<String> repoTags, long sizeBytes) {

    public NodeImage {
        repoDigests = List.copyOf(repoDigests);
        repoTags = List.copyOf(repoTags);
    }
}
