/**
 * Watches, and the reads before them, over connections of our own, because fabric8's HTTP client shows neither a
 * server's limit of streams nor pings, does not reset a stream at once, and does not survive a chunk that ends inside a
 * character. {@link dev.podcache.apiserver.stream.WatchConnections} carries all of them on few HTTP/2 connections, or
 * each watch on an HTTP/1.1 connection where there is no HTTP/2, with two event loops for everything; {@link
 * dev.podcache.apiserver.stream.HeartbeatConnection} carries a node's signs of life apart from them. Addresses, TLS,
 * proxies and credentials are what fabric8 makes of the caller's configuration.
 *
 * <p>Read {@code WatchConnections}, {@code Lane}, {@code Exchange}, {@code OpenWatch}, {@code BodyRead}; who carries
 * them: {@code ConnectionPool}, {@code Capacity}, {@code Probe}, {@code PooledConnection}, {@code Seats}, {@code
 * Pulse}, {@code SingleConnections}; what they bring: {@code LineDecoder}, {@code WatchEvents}, {@code AnswerBody};
 * what they need: {@code Endpoint}, {@code ConnectionSettings}, {@code Credentials}, {@code EventLoops}. Apart from
 * these {@code HeartbeatConnection}, {@code Heartbeat}, {@code HeartbeatTimeout}.
 *
 * <p>An exchange is prepared on a thread that may block, because credentials may be read from a file. The pool,
 * under its lock, decides which connection carries it. From then on it belongs to the event loop of that connection,
 * as do the connection and its pings.
 *
 * <table>
 * <caption>Locks</caption>
 * <tr><th>lock</th><th>covers</th><th>taken inside it</th></tr>
 * <tr><td>{@code WatchConnections}</td><td>whether there is a pool, whether it is closed; held while the event loops
 * start</td><td>none of ours</td></tr>
 * <tr><td>{@code HeartbeatConnection}</td><td>who waits, whose turn it is, which wire is in use, whether it is closed;
 * held while the event loop starts</td><td>{@code EventLoops}</td></tr>
 * <tr><td>{@code HeartbeatTimeout}</td><td>what the next may take</td><td>none</td></tr>
 * <tr><td>{@code EventLoops}</td><td>whether they are closed; held while a client is made, which connects to nothing
 * yet</td><td>none of ours</td></tr>
 * <tr><td>{@code ConnectionPool}</td><td>who waits, which connections there are, {@code phase} and {@code seats} of
 * each</td><td>none; nothing but bookkeeping is done under it</td></tr>
 * </table>
 */
@NullMarked
package dev.podcache.apiserver.stream;

import org.jspecify.annotations.NullMarked;
