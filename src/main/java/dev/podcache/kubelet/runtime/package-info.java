/**
 * What an author of a runtime implements: {@link dev.podcache.kubelet.runtime.PodRuntime}. {@link
 * dev.podcache.kubelet.runtime.HollowRuntime} is the one that runs nothing.
 */
@NullMarked
package dev.podcache.kubelet.runtime;

import org.jspecify.annotations.NullMarked;
