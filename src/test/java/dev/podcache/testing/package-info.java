/**
 * The test kit: hand-driven time, an API server that misbehaves on demand, leak checks, and the real kube-apiserver.
 * Our own tests use it, and it ships as the {@code tests} jar for tests of whoever builds on Podcache.
 */
@NullMarked
package dev.podcache.testing;

import org.jspecify.annotations.NullMarked;
