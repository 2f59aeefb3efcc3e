/**
 * Implements the ports of {@code dev.podcache.apiserver} for the server that a fabric8 client is configured for. {@link
 * dev.podcache.apiserver.fabric8.Fabric8ApiServer} creates all of them, over the connections of {@code
 * dev.podcache.apiserver.http}. Every request is a single attempt, and its answer is decoded on a worker thread. GETs,
 * and writes of pods and events, count against one client-side limit; reviews of accesses against another.
 *
 * <p>Read {@code Fabric8ApiServer}, {@code Requests}, {@code Fabric8ObjectGetter}, {@code Fabric8ListerWatcher},
 * {@code StreamedLists}, {@code Fabric8ListDecoder}, {@code Fabric8ObjectDecoder}; for what a node agent writes
 * {@code Fabric8ObjectApi}, {@code Heartbeats}.
 */
@NullMarked
package dev.podcache.apiserver.fabric8;

import org.jspecify.annotations.NullMarked;
