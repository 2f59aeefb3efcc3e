/**
 * The entry point. {@link dev.podcache.Podcache} caches the Secrets and ConfigMaps that an agent's pods refer to; all
 * other packages are behind it.
 *
 * <p>The path of a Secret from a pod's spec to a caller, and the paths of the status reports to the API server:
 *
 * <pre>
 *  CACHE PATH                                         STATUS PATH
 *  pod assigned / changed / gone                      timer, changes      timer     pod assigned / changed / gone
 *    |  podsync, or agent.AssignedPods                  |                   |         |
 *    v                                                  |                   |         v
 *  manager.Manager    registerPod / unregisterPod       |                   |       podsync    register, start, stop
 *    |  pod.PodReferences: Pod to names;                |                   |         |
 *    |  the difference to the pod before                |                   |         +-- podconfig   env, volumes,
 *    v                                                  v                   v         |     reads the managers
 *  store.Store        addReference / deleteReference  nodestatus          nodelease   +-- podsync.PodRuntime
 *    |                get                               setters, changed?   ensure,   v
 *    +-- TtlObjectStore    fresh? return : fetch        patch or register   renew   podstatus  version, merge, patch,
 *    |     ^ node.NodeTtlSource (TTL from our Node)     |                   |         |        delete ended pods
 *    +-- WatchObjectStore  first reference opens,       |                   |         |
 *          |               last one closes               |  events           |         |   events
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
 *
 * <p>The ways through the code, file by file in the order in which a call first enters them. Values (records, enums,
 * interfaces), constructors and the packages {@code object}, {@code time} and {@code metrics} are left out. A test
 * compares the lists with a trace.
 *
 * <dl>
 *   <dt>pod to socket: {@code registerPod} until the list request is written, on a connection that is open
 *   <dd>Podcache, manager/Registrations, pod/PodReferences, manager/StoreManager, pod/SecretNames, pod/Containers,
 *       pod/ConfigMapNames, manager/Registration, store/WatchObjectStore, store/EntryTable, store/Entry,
 *       store/WatchEntry, store/Transitions, store/PayloadBudget, PodcacheBuilder, apiserver/fabric8/Fabric8ApiServer,
 *       apiserver/http/ApiConnections, reflector/Reflector, reflector/Recovery, store/WatchSession,
 *       reflector/ReflectorLoop, reflector/CurrentAttempt, reflector/Outage, reflector/Steps,
 *       reflector/ResumePoint, apiserver/fabric8/Fabric8ListerWatcher, apiserver/http/ListWatchSession,
 *       apiserver/http/Connector, apiserver/http/BodyReader, apiserver/http/ConnectionPool, apiserver/http/Exchange,
 *       apiserver/http/VertxNetwork, apiserver/http/Credentials, apiserver/http/ConnectionTable,
 *       apiserver/http/Connection, apiserver/http/VertxWire
 *   <dt>event to entry: an event arrives on the socket until gets see it
 *   <dd>apiserver/http/VertxWire, apiserver/http/Exchange, apiserver/http/Connection, apiserver/http/PingMonitor,
 *       apiserver/http/WatchReader, apiserver/http/LineDecoder, apiserver/http/WatchEvents,
 *       apiserver/fabric8/Fabric8ObjectDecoder, reflector/ReflectorLoop, reflector/Steps, reflector/WatchAttempt,
 *       reflector/CurrentAttempt, reflector/WatchHealth, reflector/SinkCalls, store/WatchSession, store/Entry,
 *       store/Answer, store/WatchEntry, store/WatchObjectStore
 *   <dt>hit under WATCH
 *   <dd>manager/StoreManager, store/WatchObjectStore, store/EntryTable, store/Entry
 *   <dt>hit under CACHE
 *   <dd>manager/StoreManager, store/TtlObjectStore, store/EntryTable, store/Entry, store/FreshnessClock,
 *       store/TtlEntry
 *   <dt>miss under CACHE: from the get to the request and back
 *   <dd>manager/StoreManager, store/TtlObjectStore, store/EntryTable, store/Entry, store/FreshnessClock,
 *       store/TtlEntry, PodcacheBuilder, store/Fetches, apiserver/RetryingGetter,
 *       apiserver/fabric8/Fabric8ObjectGetter, apiserver/fabric8/Requests, apiserver/http/ApiConnections,
 *       apiserver/http/Connector, apiserver/http/ConnectionPool, apiserver/http/Exchange, apiserver/http/VertxNetwork,
 *       apiserver/http/Credentials, apiserver/http/ConnectionTable, apiserver/http/Connection,
 *       apiserver/fabric8/Fabric8ApiServer, apiserver/http/VertxWire, apiserver/http/ConnectionSettings,
 *       apiserver/http/BodyReader, apiserver/http/PingMonitor, apiserver/http/ByteBudget,
 *       apiserver/fabric8/Fabric8ObjectDecoder, store/Answer, store/Fetch, store/Transitions, store/PayloadBudget
 *   <dt>PATCH of a status: {@code setPodStatus} until the request is written
 *   <dd>podstatus/PodStatusManager, podstatus/PodStatusCache, pod/PodEnd, pod/PodReferences, podstatus/PodParts,
 *       podstatus/StatusTransitions, podstatus/StatusContinuity, podstatus/PodStatusNormalizer,
 *       podstatus/PodStatusSync, podstatus/ReportPauses, podstatus/PodStatusReport,
 *       apiserver/fabric8/Fabric8ObjectApi, apiserver/fabric8/Fabric8ApiServer, apiserver/fabric8/Requests,
 *       apiserver/http/ApiConnections, apiserver/http/Connector, apiserver/http/ConnectionPool,
 *       apiserver/http/Exchange, apiserver/http/VertxNetwork, apiserver/http/Credentials,
 *       apiserver/http/ConnectionTable, apiserver/http/Connection, apiserver/http/BodyReader, apiserver/http/VertxWire
 * </dl>
 */
@NullMarked
package dev.podcache;

import org.jspecify.annotations.NullMarked;
