/**
 * A cache for the unit tests of code that uses Podcache: {@link dev.podcache.testkit.FakePodcache}, which needs no API
 * server. {@code dev.podcache.embedded} has an API server in memory, for tests that go over the network.
 *
 * <p>Locks: {@code FakePodcache} serializes writes by its monitor, and holds it while stores and listeners are called.
 * {@code FakeObjects} guards its fields by its own monitor and calls nothing under it. The stores to close are guarded by a
 * monitor of their own, which is taken under that of {@code Managers}; stores are closed without it.
 */
@NullMarked
package dev.podcache.testkit;

import org.jspecify.annotations.NullMarked;
