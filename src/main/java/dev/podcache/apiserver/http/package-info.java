/**
 * The HTTP transport to the API server. Every request (GET, LIST, WATCH, PATCH, POST, PUT, DELETE) is an exchange over
 * connections of this package. fabric8's HTTP client is not used, because it shows neither the stream limit of a server
 * nor pings, does not reset a stream at once, tries only one address of a host name, and keeps a client certificate for
 * ever. Keys, tokens and proxies come from {@code
 * dev.podcache.apiserver.credentials}. The entry point is {@link
 * dev.podcache.apiserver.http.ApiConnections}.
 *
 * <p>Read {@code ApiConnections}, {@code ListWatchSession}, {@code SerialRequests}, {@code ConnectionProbe}; then {@code Exchange}, {@code
 * ConnectionPool}, {@code ConnectionTable}, {@code Traffic}, {@code Connection}, {@code PingMonitor}; for responses
 * {@code ResponseReader}, {@code BodyReader}, {@code WatchReader}, {@code LineDecoder}, {@code WatchEvents}; for
 * connecting {@code Connector}, {@code Target}, {@code Addresses}, {@code DialGate}; for Vert.x {@code Wire}, {@code EventLoop}, {@code VertxNetwork}, {@code
 * VertxWire}.
 *
 * <p>An exchange waits in a pool for a stream, without a thread. After that it belongs to the event loop of its
 * connection, like the connection itself and its pings. Bodies are decoded on worker threads, events of watches on the
 * event loop.
 *
 * <table>
 * <caption>Locks</caption>
 * <tr><th>lock</th><th>guards</th><th>locks taken inside it</th></tr>
 * <tr><td>{@code ConnectionPool}</td><td>the waiting exchanges, the connections, their limits and free streams; only
 * bookkeeping happens under it</td><td>{@code DialGate}</td></tr>
 * <tr><td>{@code SerialRequests}</td><td>the waiting requests, whether one is in flight</td><td>none</td></tr>
 * <tr><td>{@code Addresses}</td><td>the known result, the read in progress</td><td>none</td></tr>
 * <tr><td>{@code DialGate}, {@code HeartbeatTimeout}, {@code BodyReader}, {@code VertxNetwork}</td><td>their
 * fields</td><td>none of this library</td></tr>
 * </table>
 */
@NullMarked
package dev.podcache.apiserver.http;

import org.jspecify.annotations.NullMarked;
