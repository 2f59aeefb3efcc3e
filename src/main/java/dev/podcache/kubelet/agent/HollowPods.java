package dev.podcache.kubelet.agent;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.kubelet.podsync.ServerPods;
import dev.podcache.reflector.ReflectorSink;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;

/** Passes the pods of hollow nodes on to their workers. Thread-safe; no method blocks. */
final class HollowPods implements ReflectorSink<Pod> {

    private final SharedNodes nodes;
    private final ServerPods workers;
    private final HollowPodIps ips;

    HollowPods(SharedNodes nodes, ServerPods workers, HollowPodIps ips) {
        this.nodes = nodes;
        this.workers = workers;
        this.ips = ips;
    }

    @Override
    public void replace(List<Fetched<Pod>> items, String resourceVersion) {
        List<Fetched<Pod>> own = items.stream().filter(this::isOwn).toList();
        // before a worker needs an address
        ips.listed(own.stream().map(Fetched::object).toList());
        workers.replace(own, resourceVersion);
    }

    @Override
    public void upsert(Fetched<Pod> fetched) {
        if (isOwn(fetched)) {
            workers.upsert(fetched);
        }
    }

    @Override
    public void delete(Fetched<Pod> last) {
        ips.deleted(last.object());
        workers.delete(last);
    }

    @Override
    public void connected() {
        workers.connected();
    }

    @Override
    public void disconnected(ApiServerException cause) {
        workers.disconnected(cause);
    }

    private boolean isOwn(Fetched<Pod> fetched) {
        return nodes.contains(fetched.object().getSpec().getNodeName());
    }
}
