/**
 * Caches the Secrets and ConfigMaps that registered pods refer to. Start with {@link dev.podcache.Podcache}.
 *
 * <p>How a Secret travels from a pod's spec to a caller, and how a node agent reports to the API server:
 *
 * <pre>
 *  CACHE PATH                                          STATUS PATH
 *  pod assigned, changed, gone                         timer, change   timer        pod assigned, changed, gone
 *    |  kubelet.podsync, or your loop                    |               |            |
 *    v                                                   |               |            v
 *  manager.Manager   registerPod, unregisterPod          |               |          podsync   register, start, stop
 *    |  pod.PodReferences: Pod to names;                 |               |            |
 *    |  the difference to the pod before                 |               |            +-- podconfig   env, volumes;
 *    v                                                   v               v            |     reads the managers
 *  store.Store       addReference, deleteReference     nodestatus      nodelease      +-- runtime.PodRuntime
 *    |               get                                 setters;        create,      v
 *    +-- TtlObjectStore     fresh: return, else fetch    register,       renew      podstatus   version, merge, patch,
 *    |     ^ node.NodeTtlSource (TTL from our Node)      patch           |            |         delete ended pods
 *    +-- WatchObjectStore   first reference opens,       |               |            |
 *    |       |              last one closes              |  events       |            |   events
 *    |       v                                           |    |          |            |     |
 *    |     reflector.Reflector   list, watch, relist     |    |          |            |     |
 *    v       v                                           v    v          v            v     v
 *  apiserver   ObjectGetter, ListerWatcher             ObjectApi       ObjectApi    ObjectApi
 *    v                                                   v               v            v
 *  apiserver.fabric8 (paths, decoding), apiserver.http (exchanges, connections)  -&gt;  kube-apiserver
 * </pre>
 *
 * <p>In the status path, {@code podsync} stands for {@code kubelet.podsync}, and so on. A package may import only
 * packages on lines below its own; packages on one line never import each other:
 *
 * <pre>
 * 17  cli
 * 16  cli.demo   cli.doctor
 * 15  cli.access   cli.controllers   cli.hollow   cli.observe   cli.plan
 * 14  cli.config
 * 13  cli.output   micrometer
 * 12  kubelet.agent   josdk   controlplane.planner
 * 11  access   kubelet.podsync
 * 10  dev.podcache   controlplane.leaderelection   controlplane.nodelifecycle   controlplane.ttl   embedded   kubelet.nodestatus   kubelet.nodelease   kubelet.podstatus   kubelet.probe   kubelet.process   kubelet.server   kubelet.staticpods
 *  9  controlplane.cluster   kubelet.podconfig   kubelet.eviction   kubelet.certificate
 *  8  kubelet.events   kubelet.host   kubelet.runtime   testkit
 *  7  manager   node
 *  6  store
 *  5  reflector   apiserver.fabric8
 *  4  apiserver.http
 *  3  apiserver.credentials
 *  2  apiserver   pod   metrics   patch
 *  1  object   time   yaml
 * </pre>
 *
 * <p>The ways of a call through the code: the files in the order in which a trace first entered them, on all threads. The lists leave
 * out values (records, enums, interfaces), constructors, and the packages {@code object}, {@code time} and {@code
 * metrics}. A test compares them with the files of a trace.
 *
 * <dl>
 *   <dt>pod to socket: {@code registerPod} until the list request is handed to a connection that is open
 *   <dd>Podcache, manager/Managers, manager/Registrations, pod/PodReferences, pod/PodSpecNames, manager/StoreManager,
 *       store/EntryStore, store/WatchObjectStore, store/EntryTable, store/Entry, store/WatchEntry, store/Transitions,
 *       apiserver/fabric8/Fabric8ApiServer, apiserver/fabric8/Fabric8ListerWatcher, apiserver/http/ApiConnections,
 *       reflector/Reflector, reflector/Recovery, reflector/Outage, store/ListOrGet, apiserver/fabric8/StreamedLists,
 *       apiserver/http/ConnectionPool, apiserver/http/ServerEndpoint, apiserver/http/BodyReader,
 *       apiserver/http/Exchange, apiserver/http/NettyNetwork, apiserver/credentials/Credentials,
 *       apiserver/http/ClientInterceptors, apiserver/http/Connection, reflector/AttemptQueues, apiserver/http/NettyWire
 *   <dt>event to entry: an event arrives on the socket until gets see it
 *   <dd>apiserver/http/Http2Streams, apiserver/http/WireCall, apiserver/http/Connection, apiserver/http/Exchange,
 *       apiserver/http/WatchReader, apiserver/http/LineDecoder, apiserver/fabric8/Fabric8ObjectDecoder,
 *       reflector/WatchAttempt, reflector/Reflector, store/WatchEntry, store/ListOrGet, store/Answer, store/Entry
 *   <dt>hit under WATCH
 *   <dd>manager/StoreManager, store/WatchObjectStore, store/EntryTable, store/Entry
 *   <dt>hit under CACHE
 *   <dd>manager/StoreManager, store/TtlObjectStore, store/EntryTable, store/Entry, store/FreshnessClock,
 *       store/TtlEntry
 *   <dt>miss under CACHE: from the get to the request and back
 *   <dd>manager/StoreManager, store/TtlObjectStore, store/EntryTable, store/Entry, store/FreshnessClock,
 *       store/TtlEntry, store/EntryStore, store/PendingGet, store/Fetches, apiserver/fabric8/Fabric8ApiServer,
 *       apiserver/http/ApiConnections, apiserver/http/ServerEndpoint, apiserver/http/ConnectionPool,
 *       apiserver/http/Exchange, apiserver/http/NettyNetwork, apiserver/credentials/Credentials,
 *       apiserver/http/ClientInterceptors, apiserver/http/Connection, apiserver/http/BodyReader,
 *       apiserver/http/NettyWire, apiserver/http/Http2Streams, apiserver/http/WireCall, apiserver/http/ReceiveBudget,
 *       apiserver/fabric8/Fabric8ObjectDecoder, store/Answer, store/Transitions
 *   <dt>PATCH of a status: {@code setPodStatus} until the request is written
 *   <dd>kubelet/podstatus/PodStatusManager, kubelet/podstatus/PodStatusCache, pod/PodEnd, pod/PodReferences,
 *       kubelet/podstatus/PodParts, kubelet/podstatus/StatusContinuity, kubelet/podstatus/StatusTransitions,
 *       kubelet/podstatus/PodStatusNormalizer, kubelet/podstatus/PodStatusSync, kubelet/podstatus/ReportPauses,
 *       kubelet/podstatus/PodStatusReport, apiserver/fabric8/Fabric8ObjectApi, apiserver/fabric8/Fabric8ApiServer,
 *       apiserver/http/ApiConnections, apiserver/http/ServerEndpoint, apiserver/http/ConnectionPool,
 *       apiserver/http/Exchange, apiserver/http/NettyNetwork, apiserver/credentials/Credentials,
 *       apiserver/http/ClientInterceptors, apiserver/http/Connection, apiserver/http/BodyReader,
 *       apiserver/http/NettyWire
 * </dl>
 */
@NullMarked
package dev.podcache;

import org.jspecify.annotations.NullMarked;
