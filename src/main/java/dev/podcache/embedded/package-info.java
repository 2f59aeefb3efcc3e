/**
 * An API server in memory, honest about what clients rely on: {@link dev.podcache.embedded.InMemoryCluster} is its
 * state and {@link dev.podcache.embedded.EmbeddedApiServer} its HTTP face on loopback. It is what the demo runs on, the
 * base of our own tests and a test tool for users. With our client it shares the patches and nothing else, so that it
 * cannot share its mistakes.
 *
 * <p>Read {@code InMemoryCluster}, then {@code Registry}, {@code Storage} and {@code WatchCache} (what is read), {@code
 * WriteRules} and {@code Deletion} (what is written), {@code Watches} and {@code Watcher}; then {@code HttpFace},
 * {@code ObjectRequests} and {@code WatchStream}. What can be made to go wrong is in {@code Faults}.
 *
 * <table>
 * <caption>Locks</caption>
 * <tr><th>lock</th><th>covers</th><th>taken inside it</th></tr>
 * <tr><td>{@code InMemoryCluster.lock}</td><td>storage, watch caches, which watches are open</td><td>none</td></tr>
 * </table>
 */
@NullMarked
package dev.podcache.embedded;

import org.jspecify.annotations.NullMarked;
