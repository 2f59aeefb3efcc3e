/**
 * The HTTPS endpoint of a node, which a kubelet serves on port 10250. After {@code pkg/kubelet/server} of Kubernetes.
 *
 * @see dev.podcache.kubelet.server.KubeletServer
 */
@NullMarked
package dev.podcache.kubelet.server;

import org.jspecify.annotations.NullMarked;
