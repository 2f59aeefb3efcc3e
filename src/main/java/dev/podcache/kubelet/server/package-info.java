/**
 * The HTTPS endpoint of a node, which a kubelet serves on port 10250. After {@code pkg/kubelet/server} of Kubernetes. Start
 * with {@link dev.podcache.kubelet.server.KubeletServer}.
 *
 * <table>
 * <caption>Endpoints</caption>
 * <tr><th>path</th><th>content</th><th>subresource of {@code nodes}</th></tr>
 * <tr><td>{@code /healthz}, {@code /livez}, {@code /readyz}</td><td>{@code ok}, or 500 with the checks that failed; {@code
 * ?verbose} lists the checks, {@code ?exclude=} leaves some out, {@code /livez/<check>} says why one fails</td><td>{@code
 * healthz} or {@code proxy}</td></tr>
 * <tr><td>{@code /configz}</td><td>the configuration in effect, as JSON</td><td>{@code configz} or {@code
 * proxy}</td></tr>
 * <tr><td>{@code /statusz}, {@code /flagz}</td><td>version and uptime; flags: texts for people</td><td>{@code statusz}, {@code flagz} or
 * {@code proxy}</td></tr>
 * <tr><td>{@code /pods}</td><td>the pods of the node as a PodList, with their statuses</td><td>{@code pods} or
 * {@code proxy}</td></tr>
 * <tr><td>{@code /runningpods}</td><td>those of which a container runs</td><td>{@code pods} or {@code proxy}</td></tr>
 * <tr><td>{@code /metrics}</td><td>metrics of the agent, in the text format of Prometheus; 404 if it has none</td><td>{@code
 * metrics}</td></tr>
 * <tr><td>{@code /metrics/resource}</td><td>CPU and memory of node, pods and containers, for metrics-server</td><td>
 * {@code metrics}</td></tr>
 * <tr><td>{@code /metrics/cadvisor}</td><td>the same and limits, with the names and labels of cAdvisor</td><td>{@code
 * metrics}</td></tr>
 * <tr><td>{@code /metrics/probes}</td><td>results and durations of each probe</td><td>{@code metrics}</td></tr>
 * <tr><td>{@code /stats/summary}</td><td>the Summary of {@code stats/v1alpha1}, without rates, network and file
 * systems of the node; {@code only_cpu_and_memory=true} leaves out disks</td><td>{@code stats}</td></tr>
 * <tr><td>{@code /debug/objects}</td><td>the cached Secrets and ConfigMaps as JSON: state, age, holders, last failure;
 * never contents</td><td>{@code proxy}</td></tr>
 * <tr><td>{@code /ui}</td><td>the page of the node, for browsers</td><td>{@code proxy}</td></tr>
 * <tr><td>{@code /ui/state}</td><td>what the page shows, as JSON: {@code q}, {@code kind} and {@code state} select
 * entries, {@code limit} limits their number (1000)</td><td>{@code proxy}</td></tr>
 * <tr><td>{@code /containerLogs/<namespace>/<pod>/<container>}</td><td>the output of a container; {@code follow}, {@code
 * previous}, {@code timestamps}, {@code tailLines}, {@code sinceSeconds}, {@code sinceTime}, {@code
 * limitBytes}</td><td>{@code proxy}</td></tr>
 * <tr><td>{@code /exec/<namespace>/<pod>/[<uid>/]<container>}</td><td>a command in a container, by WebSocket with
 * subprotocol {@code v5.channel.k8s.io} or {@code v4.channel.k8s.io}; not by SPDY</td><td>{@code proxy}</td></tr>
 * <tr><td>{@code /attach/<namespace>/<pod>/[<uid>/]<container>}</td><td>the streams of a container, likewise</td><td>{@code
 * proxy}</td></tr>
 * <tr><td>{@code /portForward/<namespace>/<pod>[/<uid>]}</td><td>connections to the ports in {@code port}, by WebSocket with
 * subprotocol {@code v4.channel.k8s.io}, {@code v4.base64.channel.k8s.io} or none; not by SPDY</td><td>{@code
 * proxy}</td></tr>
 * </table>
 *
 * <p>{@code HealthServer} serves the health endpoints without TLS and authentication, and never says why a check fails.
 * At a loopback address, it also serves {@code /metrics}, {@code /configz}, {@code /statusz}, {@code /flagz} and {@code
 * /debug/objects}, and answers 403 to a request for the host of another machine.
 *
 * <p>{@code kubectl logs} and {@code kubectl exec} reach these paths through the API server, which needs the node's
 * address and port in the Node's status. Logs need a {@code PodRuntime} that implements {@code ContainerLogs}, commands
 * {@code ContainerExec}, attaching {@code ContainerAttach}, ports {@code PodPortForward}, statistics {@code
 * ContainerStatistics}. Without it, the answer is 501 with a sentence, which
 * {@code kubectl} prints. The usage of the node is the sum of its containers.
 *
 * <p><b>kubectl exec.</b> Up to Kubernetes 1.35 the API server passes on what the client sends, or sends SPDY itself for
 * a newer kubectl, and SPDY is answered 501. Clients that send WebSocket requests which the API server passes on, such
 * as fabric8's client on 1.20, work. {@code kubectl port-forward} sends SPDY, from 1.31 on within a WebSocket.
 *
 * <p><b>Ports.</b> Each port has two channels: one for the data of both directions, and one for an error. The server sends
 * the port in two bytes on each, the lower one first. The call ends when all ports have ended. A port that does not read
 * holds up the other ports of its WebSocket.
 *
 * <p><b>Authentication.</b> Every request needs a user, {@code /healthz} included; there are no anonymous users. The
 * user comes from a client certificate of the configured authority (common name and organizations), or else from a
 * bearer token, which the API server reviews. An accepted token is reviewed again after 2 min, a refused one after 10 s.
 * If the review fails, the answer is 401, or 429 if a limit is the cause, and one warning is logged.
 *
 * <p><b>Authorization.</b> The API server reviews whether the user has a verb on a subresource of this Node: {@code get}
 * for GET, {@code create} for POST, none for a method that has no verb. Unlike upstream, a command, attachment or port always needs {@code create}, because a WebSocket begins
 * with GET. An allowed access is reviewed again after 5 min, a denied one after 30 s. If the review fails, the answer is
 * 500. The node's credentials need the permission to create {@code tokenreviews} and {@code subjectaccessreviews}, which
 * every node identity has, and which the ClusterRole {@code system:auth-delegator} grants to others.
 *
 * <p><b>Limits.</b> TLS 1.2 or newer, without renegotiation; HTTP/1.1; 64 answers that are made, and 256 logs, commands,
 * attachments and ports, at a time; 64 KiB and 256 lines of headers; 64 KiB of a body, which nothing reads; 256 KiB of URL and 10,000 parameters, at the health port 4 KiB; 1 MiB
 * for a message of a WebSocket; 4 h for a client that reads nothing of an output.
 *
 * <p><b>Limits of strangers.</b> 1024 connections, or one for each 128 KiB of heap, of which one without a request, or whose
 * client has not taken its answer, gives way to a new one, first of clients that were never authenticated, and of these one of
 * the network that has the most; one part of a TLS handshake in a turn of the event loop, the networks by turns; 90 s for a connection without a request; 10 s for the TLS handshake and for the head of a request.
 * One request of a connection is in flight; what a client sends meanwhile waits, and from 16 KiB on the client is not read from,
 * and closed after 10 s. A client that takes nothing of an answer is closed after 30 s. One that has
 * TLS 1.3 update its keys is closed when 16 of the answers wait, and it asks for a further one. All that was received from
 * clients that are not authenticated is in one budget of the process, a 16th of the heap, at most 8 MiB; what clients do not take of answers is
 * in another, a 16th of the heap: the connection that holds most gives way. A network (an IPv4 address, or the first 64 bits of an IPv6
 * address) may send ten tokens at once that are refused, then one a second, a connection eight; 64 tokens are under review
 * at a time. A token that was accepted within the last hour does not count. Beyond, the answer is 429.
 *
 * <p><b>Requests that are refused.</b> What two programs could read in two ways, such as two headers {@code Host}, is answered
 * 400 by {@code RequestHead}. A web page may not have a browser open a WebSocket with its user's certificate: with a
 * certificate and an {@code Origin} of another host, the answer is 403, unless {@code X-Forwarded-For} says that an API server
 * passed the request on: a page cannot have a browser send that.
 *
 * <p><b>The page.</b> {@link dev.podcache.kubelet.server.PageServer} also serves {@code /ui} on a loopback port, without
 * TLS and authentication, because a browser has no token to send. It refuses every other host than {@code localhost},
 * {@code 127.0.0.1} and {@code [::1]}, and every method but GET and HEAD. {@code NodePage} is the document and its
 * policy, {@code PageState} and {@code PagePods} are what it shows of a {@code NodeView}.
 *
 * <p>Read {@code KubeletServer}, {@code HttpsListener}, {@code HttpListener}, {@code HttpExchange} and {@code
 * NettyWebSocket}, {@code ConnectionGuard}, {@code Handshakes}, {@code TlsAnswers} and {@code ConnectionGate}, which see the bytes
 * before HTTP is decoded, {@code RequestChain}, {@code Authentication}, {@code
 * Authorization}, {@code Endpoints}, {@code ComponentPages}; for logs {@code LogEndpoint}, {@code LogParameters}, {@code
 * LogTransfer}; for WebSockets {@code Handshake}, {@code WebSocketSession}, {@code ChannelFrames};
 * for commands and attachments {@code ExecEndpoint}, {@code ExecSession}, {@code ExecChannels}; for ports {@code
 * PortForwardEndpoint}, {@code PortForwardRequest}, {@code ForwardedPort}; for certificates {@code
 * WatchedFiles}, {@code ServingCertificate}, {@code SelfSigned}, {@code ClientCertificates}.
 *
 * <p><b>Threads.</b> The event loop reads requests, verifies client certificates and writes responses; it never calls a
 * supplier or the runtime. Answers are made on four threads, and a call that takes longer than 100 ms does not count.
 * Each log, command, attachment and port has threads of its own, which wait until a part is sent before they read the next
 * one. A message of a client is taken when the one before was written; while one waits, the client is not read from. A
 * ping every 30 s, or every 5 s while a message waits, shows whether the client has left.
 *
 * <table>
 * <caption>Locks</caption>
 * <tr><th>lock</th><th>guards</th><th>taken inside it</th></tr>
 * <tr><td>{@code HttpListener}</td><td>whether it listens, or is closed</td><td>none</td></tr>
 * <tr><td>{@code OpenConnections}</td><td>which connections are open and idle</td><td>those of the {@code Timekeeper}</td></tr>
 * <tr><td>{@code HeldBytes}</td><td>what each connection holds</td><td>none</td></tr>
 * <tr><td>{@code UsageTotals}</td><td>the CPU time that was counted</td><td>none</td></tr>
 * </table>
 *
 * <p>Not API, except {@code KubeletServerBuilder}, {@code NodeView}, {@code PageServer}: may change in any release.
 */
@NullMarked
package dev.podcache.kubelet.server;

import org.jspecify.annotations.NullMarked;
