/**
 * What we know of our own Node: {@link dev.podcache.node.NodeLister} has its last known state, {@link
 * dev.podcache.node.NodeTtlSource} reads from it for how long objects stay fresh. The Node is followed by its name,
 * which is all that a Node authorizer allows.
 *
 * <p>Read {@code NodeLister}, {@code WatchedNode}, {@code NodeTtlSource}. There are no locks: a
 * watch writes, all others read.
 */
@NullMarked
package dev.podcache.node;

import org.jspecify.annotations.NullMarked;
