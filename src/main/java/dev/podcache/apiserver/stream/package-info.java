/**
 * Watches: streams of newline-delimited events over connections of our own, because fabric8's HTTP client neither resets a
 * stream at once nor survives a chunk that ends inside a character. {@link
 * dev.podcache.apiserver.stream.WatchConnections} opens them, each on one HTTP/1.1 connection, all on one small Vert.x with two
 * event loops. Addresses, TLS, proxies and credentials are what fabric8 makes of the caller's configuration.
 *
 * <p>Read {@code WatchConnections}, {@code OpenWatch}, {@code LineDecoder}, {@code WatchEvents}, {@code ConnectionSettings},
 * {@code Credentials}.
 *
 * <table>
 * <caption>Locks</caption>
 * <tr><th>lock</th><th>covers</th><th>taken inside it</th></tr>
 * <tr><td>{@code WatchConnections}</td><td>the Vert.x and whether it is closed</td><td>none of ours</td></tr>
 * </table>
 */
@NullMarked
package dev.podcache.apiserver.stream;

import org.jspecify.annotations.NullMarked;
