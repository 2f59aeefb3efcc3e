/**
 * The front door. {@link dev.podcache.Podcache} gives an agent a cache of the Secrets and of the ConfigMaps that its pods refer
 * to; everything else is behind it.
 *
 * <p>How a Secret travels from a pod's spec to a caller:
 *
 * <pre>
 *  pod assigned / changed / gone
 *    |  agent.AssignedPods
 *    v
 *  manager.Manager      registerPod / unregisterPod
 *    |  pod.PodReferences: Pod to names; the difference to the pod registered before
 *    v
 *  store.Store          addReference / deleteReference, get
 *    |
 *    +-- TtlObjectStore    fresh? return : fetch    (TTL from node.NodeTtlSource, kept current by a reflector.Reflector)
 *    +-- WatchObjectStore  first reference opens, last one shuts
 *    |      reflector.Reflector   list, watch, list again
 *    v
 *  apiserver            ObjectGetter, ListerWatcher
 *    v
 *  apiserver.fabric8 (requests), apiserver.stream (watches)  ->  kube-apiserver
 * </pre>
 *
 * <p>A package may import only packages further down in this list; packages on one line never import each other:
 *
 * <pre>
 * 10  agent
 *  9  dev.podcache   embedded
 *  8  nodestatus   nodelease   podstatus
 *  7  podconfig
 *  6  manager   node   events
 *  5  store
 *  4  reflector   apiserver.fabric8
 *  3  apiserver.stream
 *  2  apiserver   pod   metrics   patch
 *  1  object   time
 * </pre>
 */
@NullMarked
package dev.podcache;

import org.jspecify.annotations.NullMarked;
