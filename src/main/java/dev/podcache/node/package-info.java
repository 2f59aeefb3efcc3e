/**
 * The node agent's own Node: {@link dev.podcache.node.NodeLister} has its last known state, {@link
 * dev.podcache.node.NodeTtlSource} reads the TTL of cached objects from it. The Node is watched by name, which is all
 * that a Node authorizer allows.
 *
 * <p>Read {@code NodeLister}, {@code WatchedNode}, {@code NodeTtlSource}. The watch writes and all others read. The
 * only lock is the monitor of {@code NodeTtlSource}: only the Node is read and the log is called under it.
 *
 * <p>Not API: may change in any release.
 */
@NullMarked
package dev.podcache.node;

import org.jspecify.annotations.NullMarked;
