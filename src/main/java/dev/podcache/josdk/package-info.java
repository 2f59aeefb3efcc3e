/**
 * An adapter for java-operator-sdk, which is an optional dependency: {@link dev.podcache.josdk.PodcacheEventSource}.
 *
 * <p>Locks: the event source has one monitor, under which it registers and unregisters primaries. It is taken under the
 * monitor of the controller's own event source, and is held while the cache is called, never while java-operator-sdk is
 * handed an event.
 */
@NullMarked
package dev.podcache.josdk;

import org.jspecify.annotations.NullMarked;
