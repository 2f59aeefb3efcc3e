/**
 * Implements the ports of {@code dev.podcache.apiserver} for the server that a fabric8 client is configured for. {@link
 * dev.podcache.apiserver.fabric8.Fabric8ApiServer} creates all of them, over the connections of {@code
 * dev.podcache.apiserver.http}. Every request is a single attempt, and its answer is decoded on a worker thread. GETs,
 * and writes of pods and events, count against one client-side limit; reviews of accesses against another.
 *
 * <p>Read {@code Fabric8ApiServer} with {@code RequestLimit}; {@code Fabric8ListerWatcher}, {@code StreamedLists}; {@code
 * Fabric8ListDecoder}, {@code Fabric8ObjectDecoder}, {@code LazyModelDeserializers}; for what an agent writes and asks {@code
 * Fabric8ObjectApi}, {@code Fabric8TokenRequests}, {@code Fabric8AccessReviews}.
 *
 * <table>
 * <caption>Locks</caption>
 * <tr><th>lock</th><th>guards</th><th>locks taken inside it</th></tr>
 * <tr><td>{@code StreamedLists}</td><td>whether the server has streamed lists, and when it is asked again</td>
 *     <td>none</td></tr>
 * </table>
 *
 * <p>{@code Fabric8ListerWatcher} has one field that changes, {@code minimumVersion}, which is volatile: one list at a time
 * sets it. Everything else here is immutable.
 *
 * <p>Not API, except {@code Fabric8ApiServer}, {@code RequestLimit}: may change in any release.
 */
@NullMarked
package dev.podcache.apiserver.fabric8;

import org.jspecify.annotations.NullMarked;
