package dev.podcache.kubelet.agent;

import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.ObjectApi;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.apiserver.fabric8.Heartbeats;
import dev.podcache.object.ObjectKind;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.time.Duration;

/**
 * The API server as a node agent needs it, Secrets and ConfigMaps apart.
 *
 * @param reconnect has heartbeats dial anew
 * @param node follows our own Node
 * @param pods follows the pods assigned to it
 * @param services follows all Services
 */
public record NodePorts(
        ObjectApi<Node> nodes,
        ObjectApi<Lease> leases,
        Runnable reconnect,
        ObjectApi<Pod> podStatus,
        ObjectApi<Event> events,
        ListerWatcher<Node> node,
        ListerWatcher<Pod> pods,
        ListerWatcher<Service> services,
        Timekeeper timekeeper) {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    /** Those to {@code server}, for the node of that name. */
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
                server.timekeeper());
    }

    /** Selects the pods that are assigned to the node of that name. */
    public static String podsOf(String node) {
        return "spec.nodeName=" + node;
    }
}
