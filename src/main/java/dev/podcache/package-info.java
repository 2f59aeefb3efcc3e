/**
 * The front door. {@link dev.podcache.Podcache} gives an agent a cache of the Secrets and of the ConfigMaps that its
 * pods refer to; everything else is behind it.
 *
 * <p>How a Secret travels from a pod's spec to a caller, and what a node agent says to the API server:
 *
 * <pre>
 *  CACHE PATH                                         STATUS PATH
 *  pod assigned / changed / gone                      timer, and news     timer     pod assigned / changed / gone
 *    |  podsync, or agent.AssignedPods                  |                   |         |
 *    v                                                  |                   |         v
 *  manager.Manager    registerPod / unregisterPod       |                   |       podsync    register, start, stop
 *    |  pod.PodReferences: Pod to names;                |                   |         |
 *    |  the difference to the pod before                |                   |         +-- podconfig   env, volumes,
 *    v                                                  v                   v         |     reads the managers
 *  store.Store        addReference / deleteReference  nodestatus          nodelease   +-- podsync.PodRuntime
 *    |                get                               setters, changed?   ensure,   v
 *    +-- TtlObjectStore    fresh? return : fetch        patch or register   renew   podstatus  version, merge, patch,
 *    |     ^ node.NodeTtlSource (TTL from our Node)     |                   |         |        delete what is over
 *    +-- WatchObjectStore  first reference opens,       |                   |         |
 *          |               last one shuts               |  events           |         |   events
 *          v                                            |    |              |         |     |
 *        reflector.Reflector  list, watch, list again   |    |              |         |     |
 *          v                                            v    v              v         v     v
 *  apiserver   ObjectGetter, ListerWatcher            ObjectApi           ObjectApi ObjectApi
 *          v                                            |                   |         |
 *  apiserver.fabric8 (paths, decoding), apiserver.http (exchanges and connections) -> kube-apiserver
 * </pre>
 *
 * <p>A package may import only packages further down in this list; packages on one line never import each other:
 *
 * <pre>
 * 10  agent
 *  9  dev.podcache   embedded   podsync
 *  8  nodestatus   nodelease   podstatus
 *  7  podconfig
 *  6  manager   node   events
 *  5  store
 *  4  reflector   apiserver.fabric8
 *  3  apiserver.http
 *  2  apiserver   pod   metrics   patch
 *  1  object   time
 * </pre>
 */
@NullMarked
package dev.podcache;

import org.jspecify.annotations.NullMarked;
