package dev.podcache.kubelet.agent;

import dev.podcache.apiserver.AccessReviews;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.ObjectApi;
import dev.podcache.apiserver.TokenRequests;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer.Heartbeats;
import dev.podcache.object.NotApi;
import dev.podcache.object.ObjectKind;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.time.Duration;

/**
 * What a node agent needs of the API server, except Secrets and ConfigMaps.
 *
 * @param reconnect closes the connections of heartbeats, so that the next heartbeat opens a new one
 * @param node lists and watches the agent's own Node
 * @param pods lists and watches the pods that are assigned to the node
 * @param services lists and watches all Services
 * @hidden
 */
@NotApi
public record NodePorts(
        ObjectApi<Node> nodes,
        ObjectApi<Lease> leases,
        Runnable reconnect,
        ObjectApi<Pod> podStatus,
        ObjectApi<Event> events,
        ListerWatcher<Node> node,
        ListerWatcher<Pod> pods,
        ListerWatcher<Service> services,
        TokenRequests tokens,
        AccessReviews reviews,
        Timekeeper timekeeper) {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    /** Returns the ports to {@code server} for a node. */
    public static NodePorts of(Fabric8ApiServer server, Heartbeats heartbeats, String node) {
        return new NodePorts(
                heartbeats.nodes(),
                heartbeats.leases(),
                heartbeats::reconnect,
                server.api(ObjectKind.POD, TIMEOUT),
                server.api(ObjectKind.EVENT, TIMEOUT),
                server.listerWatcher(ObjectKind.NODE, "", "metadata.name=" + node),
                server.listerWatcher(ObjectKind.POD, "", podsOf(node)),
                server.listerWatcher(ObjectKind.SERVICE, "", ""),
                server.tokenRequests(TIMEOUT),
                server.accessReviews(TIMEOUT),
                server.timekeeper());
    }

    /** Returns the field selector of the pods that are assigned to a node. */
    public static String podsOf(String node) {
        return "spec.nodeName=" + node;
    }
}
