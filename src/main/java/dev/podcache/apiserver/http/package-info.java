/**
 * The wire: every request to the API server (GET, LIST, WATCH, PATCH, POST, PUT, DELETE) is one kind of exchange over
 * connections of our own. fabric8's HTTP client shows neither a server's limit of streams nor pings, does not reset a
 * stream at once, tries one address of a name, and keeps a client certificate for ever; its reading of configuration,
 * certificates and tokens is used here. {@link dev.podcache.apiserver.http.ApiConnections} is the way in.
 *
 * <p>Read {@code ApiConnections}, {@code ListWatchSession}, {@code SerialRequests}; then {@code Exchange}, {@code
 * ConnectionPool}, {@code ConnectionTable}, {@code Traffic}, {@code Connection}, {@code PingMonitor}; what comes: {@code ResponseReader}, {@code BodyReader},
 * {@code WatchReader}, {@code LineDecoder}, {@code WatchEvents}; how the server is reached: {@code Connector}, {@code
 * Credentials}, {@code IdentityReader}, {@code ConnectionSettings}, {@code Addresses}, {@code DialGate}; the library:
 * {@code Wire}, {@code VertxNetwork}, {@code VertxWire}.
 *
 * <p>An exchange waits in a pool for a stream, on no thread. From then on it belongs to the event loop of its
 * connection, as do the connection and its pings. Bodies are decoded on workers, events of watches on the event loop.
 *
 * <table>
 * <caption>Locks</caption>
 * <tr><th>lock</th><th>covers</th><th>taken inside it</th></tr>
 * <tr><td>{@code ConnectionPool}</td><td>which exchanges wait, which connections there are, how many streams each has; nothing
 * but bookkeeping is done under it</td><td>{@code DialGate}, {@code VertxNetwork}</td></tr>
 * <tr><td>{@code SerialRequests}</td><td>which requests wait, whether one is under way</td><td>none</td></tr>
 * <tr><td>{@code Credentials}, {@code Addresses}</td><td>what is known, the one reading</td><td>none</td></tr>
 * <tr><td>{@code DialGate}, {@code HeartbeatTimeout}, {@code BodyReader}, {@code VertxNetwork}</td><td>their
 * fields</td><td>none of ours</td></tr>
 * </table>
 */
@NullMarked
package dev.podcache.apiserver.http;

import org.jspecify.annotations.NullMarked;
