/**
 * The ports of {@code dev.podcache.apiserver} on a fabric8 client: requests run on the caller's own connections;
 * watches, the lists before them, and a node's heartbeats on connections of {@code dev.podcache.apiserver.stream}.
 * {@link dev.podcache.apiserver.fabric8.Fabric8ApiServer} makes them all. Every request is one attempt, decoded on a
 * worker thread; GETs, and writes of pods and events, count against one client-side limit.
 *
 * <p>Read {@code Fabric8ApiServer}, {@code Requests}, {@code BoundedBody}, {@code QpsLimiter}, {@code
 * Fabric8ObjectGetter}, {@code Fabric8ListerWatcher}, {@code Fabric8ObjectDecoder}; for what a node agent writes {@code
 * ObjectRequests}, {@code Heartbeats}, {@code Fabric8PodStatusApi}, {@code Fabric8EventApi}.
 *
 * <table>
 * <caption>Locks</caption>
 * <tr><th>lock</th><th>covers</th><th>taken inside it</th></tr>
 * <tr><td>{@code QpsLimiter}</td><td>when the next token is free</td><td>none</td></tr>
 * </table>
 */
@NullMarked
package dev.podcache.apiserver.fabric8;

import org.jspecify.annotations.NullMarked;
