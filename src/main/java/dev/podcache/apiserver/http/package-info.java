/**
 * The HTTP transport to the API server. Every request (GET, LIST, WATCH, PATCH, POST, PUT, DELETE) is an exchange over
 * connections of this package. fabric8's HTTP client is not used, because it shows neither the stream limit of a server
 * nor pings, does not reset a stream at once, tries only one address of a host name, and keeps a client certificate for
 * ever. Keys, tokens and proxies come from {@code dev.podcache.apiserver.credentials}. The entry point is {@link
 * dev.podcache.apiserver.http.ApiConnections}.
 *
 * <p>Read {@code ApiConnections}, which has the pools and the sessions of lists and watches, {@code SerialRequests} for
 * heartbeats, {@code ConnectionFacts} for probes; then {@code Exchange}, {@code ConnectionPool}, {@code Connection},
 * {@code ServerEndpoint}, {@code ClientInterceptors}, {@code DialGate}; for requests and responses {@code ServerRequest}, {@code ResponseReader},
 * {@code BodyReader}, {@code WatchReader}, {@code LineDecoder}, {@code ReceiveBudget}; for Netty {@code Wire}, {@code NettyNetwork},
 * {@code NettyWire}, {@code TlsHandlers}, {@code Http2Streams}, {@code Http1Exchanges}.
 *
 * <p>An exchange waits in a pool for a stream, without a thread. After that it is sent by an attempt, which belongs to the
 * event loop of the pool, like the connection and its pings. Bodies are decoded on worker threads, events of watches on
 * the event loop.
 *
 * <table>
 * <caption>Locks</caption>
 * <tr><th>lock</th><th>guards</th><th>locks taken inside it</th></tr>
 * <tr><td>{@code ConnectionPool}</td><td>the exchanges, the slots with stage, limit and streams in use; only bookkeeping
 * happens under it</td><td>{@code DialGate}</td></tr>
 * <tr><td>{@code Exchange}</td><td>whether it is over, its timer, its last attempt</td><td>none</td></tr>
 * <tr><td>{@code ServerEndpoint}</td><td>the known addresses, which of them failed, the lookup in progress,
 * whether HTTP/2 is offered</td><td>none</td></tr>
 * <tr><td>{@code SerialRequests}</td><td>the waiting requests, whether one is in flight, the next
 * timeout</td><td>none</td></tr>
 * <tr><td>{@code ApiConnections}</td><td>what else is to be closed</td><td>none</td></tr>
 * <tr><td>{@code ReceiveBudget}</td><td>what is received and not decoded, who waits, who is favored</td><td>none</td></tr>
 * <tr><td>{@code DialGate}, {@code BodyReader}, {@code NettyNetwork}</td><td>their fields</td><td>none of this
 * library</td></tr>
 * </table>
 *
 * <p>Confined to the event loop: {@code Connection} with its attempts, {@code WireCall}, {@code WatchReader}, {@code LineDecoder}, and
 * everything of Netty but {@code NettyNetwork}.
 *
 * <p>Only public classes of Netty are used that are the same in 4.1 and 4.2. An HTTP/2 connection is pinged; over HTTP/1.1 the
 * kernel finds out within a minute that the peer of an idle watch is gone (TCP keep-alive).
 *
 * <p>Not API: may change in any release.
 */
@NullMarked
package dev.podcache.apiserver.http;

import org.jspecify.annotations.NullMarked;
