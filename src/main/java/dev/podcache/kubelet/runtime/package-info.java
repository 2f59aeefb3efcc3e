/**
 * The interface to a container runtime: {@link dev.podcache.kubelet.runtime.PodRuntime}, which users of the node agent
 * implement. {@link dev.podcache.kubelet.runtime.HollowRuntime} is an implementation that runs no containers.
 */
@NullMarked
package dev.podcache.kubelet.runtime;

import org.jspecify.annotations.NullMarked;
