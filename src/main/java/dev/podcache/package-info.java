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
 * 11  kubelet.podsync
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
 * <p>The ways of a call through the code: the files in the order in which the call first enters them. The lists leave
 * out values (records, enums, interfaces), constructors, and the packages {@code object}, {@code time} and {@code
 * metrics}. A test compares the lists with a trace.
 *
 * <dl>
 *   <dt>pod to socket: {@code registerPod} until the list request is written, on a connection that is open
 *   <dd>Podcache, manager/Managers, manager/Registrations, pod/PodReferences, manager/StoreManager, pod/SecretNames,
 *       pod/Containers, pod/ConfigMapNames, manager/Registration, store/WatchObjectStore, store/EntryTable, store/Entry,
 *       store/WatchEntry, store/CurrentWatch, store/Transitions, apiserver/fabric8/Fabric8ApiServer,
 *       apiserver/http/ApiConnections, reflector/Reflector, reflector/Recovery, store/WatchSession,
 *       reflector/ReflectorLoop, reflector/CurrentAttempt, reflector/Steps, reflector/ResumePoint,
 *       apiserver/fabric8/Fabric8ListerWatcher, apiserver/fabric8/StreamedLists, apiserver/http/ListWatchSession,
 *       apiserver/http/Connector, apiserver/http/BodyReader, apiserver/http/ConnectionPool, apiserver/http/Exchange,
 *       apiserver/http/VertxNetwork, apiserver/credentials/Credentials, apiserver/http/ConnectionTable,
 *       apiserver/http/Connection, apiserver/http/VertxWire
 *   <dt>event to entry: an event arrives on the socket until gets see it
 *   <dd>apiserver/http/VertxHttp2Call, apiserver/http/Exchange, apiserver/http/Connection, apiserver/http/PingMonitor,
 *       apiserver/http/WatchReader, apiserver/http/LineDecoder, apiserver/http/WatchEvents,
 *       apiserver/fabric8/Fabric8ObjectDecoder, reflector/ReflectorLoop, reflector/Steps, reflector/WatchAttempt,
 *       reflector/CurrentAttempt, reflector/WatchHealth, reflector/SinkCalls, store/WatchSession, store/Entry,
 *       store/Answer, store/WatchEntry, store/CurrentWatch
 *   <dt>hit under WATCH
 *   <dd>manager/StoreManager, store/WatchObjectStore, store/EntryTable, store/Entry
 *   <dt>hit under CACHE
 *   <dd>manager/StoreManager, store/TtlObjectStore, store/EntryTable, store/Entry, store/FreshnessClock,
 *       store/TtlEntry
 *   <dt>miss under CACHE: from the get to the request and back
 *   <dd>manager/StoreManager, store/TtlObjectStore, store/EntryTable, store/Entry, store/FreshnessClock,
 *       store/TtlEntry, store/PendingGet, store/TtlGet, store/Fetches, apiserver/RetryingGetter,
 *       apiserver/fabric8/Fabric8ObjectGetter, apiserver/fabric8/Requests, apiserver/http/ApiConnections,
 *       apiserver/http/Connector, apiserver/http/ConnectionPool, apiserver/http/Exchange, apiserver/http/VertxNetwork,
 *       apiserver/credentials/Credentials, apiserver/http/ConnectionTable, apiserver/http/Connection,
 *       apiserver/fabric8/Fabric8ApiServer, apiserver/http/VertxWire, apiserver/http/VertxHttp2Call,
 *       apiserver/http/BodyReader, apiserver/http/PingMonitor, apiserver/http/ByteBudget,
 *       apiserver/fabric8/Fabric8ObjectDecoder, store/Answer, store/Fetch, store/Transitions
 *   <dt>PATCH of a status: {@code setPodStatus} until the request is written
 *   <dd>kubelet/podstatus/PodStatusManager, kubelet/podstatus/PodStatusCache, pod/PodEnd, pod/PodReferences,
 *       kubelet/podstatus/PodParts, kubelet/podstatus/StatusTransitions, kubelet/podstatus/StatusContinuity,
 *       kubelet/podstatus/PodStatusNormalizer, kubelet/podstatus/PodStatusSync, kubelet/podstatus/ReportPauses,
 *       kubelet/podstatus/PodStatusReport, apiserver/fabric8/Fabric8ObjectApi, apiserver/fabric8/Fabric8ApiServer,
 *       apiserver/fabric8/Requests, apiserver/http/ApiConnections, apiserver/http/Connector,
 *       apiserver/http/ConnectionPool, apiserver/http/Exchange, apiserver/http/VertxNetwork,
 *       apiserver/credentials/Credentials, apiserver/http/ConnectionTable, apiserver/http/Connection,
 *       apiserver/http/BodyReader, apiserver/http/VertxWire
 * </dl>
 */
@NullMarked
package dev.podcache;

import org.jspecify.annotations.NullMarked;
