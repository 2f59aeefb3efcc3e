/**
 * An adapter for java-operator-sdk, which is an optional dependency: {@link dev.podcache.josdk.PodcacheEventSource}.
 *
 * <p>Locks, in the order in which they are taken: the monitor of {@code PodcacheEventSource} (start and stop), the
 * monitor of {@code RegisteredPrimaries} (what is registered). The second is also taken under the monitor of the
 * controller's own event source, and is held while the cache and the controller's cache are called. The lock of the cache's
 * timers is the last: timers are set without a lock, and cancelled under the first or the controller's. None is held while
 * objects are waited for, or while java-operator-sdk is handed an event.
 */
@NullMarked
package dev.podcache.josdk;

import org.jspecify.annotations.NullMarked;
