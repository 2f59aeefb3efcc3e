/**
 * A test kit: manual time, an API server with fault injection, a TCP proxy with network faults, leak checks, and a real
 * kube-apiserver. The tests of this library use it. It is published as the {@code tests} jar for users of Podcache.
 */
@NullMarked
package dev.podcache.testing;

import org.jspecify.annotations.NullMarked;
