package dev.podcache.agent;

import dev.podcache.apiserver.EventApi;
import dev.podcache.apiserver.LeaseApi;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.NodeApi;
import dev.podcache.apiserver.PodStatusApi;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.apiserver.fabric8.Heartbeats;
import dev.podcache.object.ObjectKind;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Service;
import java.time.Duration;

/**
 * The API server as a node agent needs it, Secrets and ConfigMaps apart.
 *
 * @param reconnect has heartbeats dial anew
 * @param node follows our own Node
 * @param pods follows the pods assigned to it
 * @param services follows all Services
 */
record NodePorts(
        NodeApi nodes,
        LeaseApi leases,
        Runnable reconnect,
        PodStatusApi podStatus,
        EventApi events,
        ListerWatcher<Node> node,
        ListerWatcher<Pod> pods,
        ListerWatcher<Service> services,
        Timekeeper timekeeper) {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    /** Those to {@code server}, for the node of that name. */
    static NodePorts of(Fabric8ApiServer server, Heartbeats heartbeats, String node) {
        return new NodePorts(
                heartbeats.nodes(),
                heartbeats.leases(),
                heartbeats::reconnect,
                server.podStatusApi(TIMEOUT),
                server.eventApi(TIMEOUT),
                server.listerWatcher(ObjectKind.NODE, "", "metadata.name=" + node),
                server.listerWatcher(ObjectKind.POD, "", Observer.podsOf(node)),
                server.listerWatcher(ObjectKind.SERVICE, "", ""),
                server.timekeeper());
    }
}
