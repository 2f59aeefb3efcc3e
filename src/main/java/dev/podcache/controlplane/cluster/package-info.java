/**
 * What the controllers of a control plane share: one cache of Nodes, Leases and pods, one loop, and the port for their
 * requests.
 *
 * <p>Read {@code ClusterCache}, {@code ClusterListener}, {@code ClusterWrites}, {@code ControllerLoop}.
 *
 * <p><b>How a simulation runs the controllers.</b> They need no API server, no thread and no real time:
 *
 * <pre>{@code
 * ControllerLoop loop = new ControllerLoop(timekeeper);    // whose workers() run tasks on the calling thread
 * ClusterCache cache = new ClusterCache(loop);
 * new NodeLifecycleController(cache, writes, events, options).start();
 * new TtlController(cache, writes).start();
 * cache.nodeSink().replace(nodes, "1");                     // each sink gets a list first, which may be empty
 * cache.leaseSink().replace(leases, "1");
 * cache.podSink().replace(pods, "1");
 * cache.leaseSink().upsert(new Fetched<>(lease, "2", 0));   // then the changes
 * }</pre>
 *
 * {@code writes} is the simulation's {@link dev.podcache.controlplane.cluster.ClusterWrites}. It changes the state in
 * memory, passes the changed object to the sink, and returns a completed future. {@code events} is an {@link
 * dev.podcache.kubelet.events.EventRecorder}. With such a timekeeper, everything happens on the thread that advances
 * the time or calls a sink.
 *
 * <p>Locks: none. Every change of state is a task of the {@code ControllerLoop}, which runs one task at a time. Tasks
 * do not block. Close the loop to stop all controllers on it: no task begins afterwards, so no request does.
 *
 * <p>Not API: may change in any release.
 */
@NullMarked
package dev.podcache.controlplane.cluster;

import org.jspecify.annotations.NullMarked;
