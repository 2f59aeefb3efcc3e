/**
 * What we know of our own Node: {@link dev.podcache.node.NodeLister} has its last known state, {@link
 * dev.podcache.node.NodeTtlSource} reads from it for how long objects stay fresh. The Node is followed by its name,
 * which is all that a Node authorizer allows.
 *
 * <p>Read {@code NodeLister}, {@code WatchedNode}, {@code NodeTtlSource}. A watch writes, all others read; the only
 * lock is that of {@code NodeTtlSource}, under which the Node is looked at and nothing but the log is called.
 */
@NullMarked
package dev.podcache.node;

import org.jspecify.annotations.NullMarked;
