/**
 * An API server in memory with the semantics that clients rely on. {@link dev.podcache.embedded.InMemoryCluster} is its
 * state; {@link dev.podcache.embedded.EmbeddedApiServer} serves it over HTTP on the loopback address. It runs the demo,
 * is the base of the tests of this library, and is a test tool for users. It shares only the patches with the client of
 * this library, so that a mistake in the client does not hide behind the same mistake in the server.
 *
 * <p>Where to start reading: {@code InMemoryCluster} and {@code Resource}; then {@code Registry}, {@code Storage} and
 * {@code WatchCache} for reads, {@code WriteRules}, {@code MetadataRules}, {@code ContentRules} and {@code Deletion} for
 * writes, {@code Watches} and {@code Watcher} for watches; then {@code RequestDispatcher}, {@code ObjectRequests} and
 * {@code WatchStream} for HTTP. {@code Faults} injects faults. With Roles, {@code AccessControl} finds out who sends a
 * request and asks {@code RbacAuthorizer}, which decides by {@code PolicyRule}; {@code ReviewEndpoint} answers reviews.
 *
 * <table>
 * <caption>Locks</caption>
 * <tr><th>lock</th><th>covers</th><th>taken inside it</th></tr>
 * <tr><td>{@code InMemoryCluster.lock}</td><td>storage, watch caches, the set of open watches, who follows Roles</td>
 * <td>{@code RbacAuthorizer.lock}</td></tr>
 * <tr><td>{@code RbacAuthorizer.lock}</td><td>the Roles and bindings that an authorizer knows, and those that it does not yet
 * count</td><td>none</td></tr>
 * </table>
 */
@NullMarked
package dev.podcache.embedded;

import org.jspecify.annotations.NullMarked;
