package dev.podcache.kubelet.podsync;

import com.google.common.base.Strings;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.object.FailureReason;
import dev.podcache.pod.PodOrigin;
import dev.podcache.reflector.ReflectorSink;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Passes the pods that are assigned to a node at the API server on to its workers. Receives them from a reflector that
 * selects them by {@code spec.nodeName}. The methods must be called by one thread at a time; none of them blocks.
 */
public final class ServerPods implements ReflectorSink<Pod> {

    private static final Logger log = LoggerFactory.getLogger(ServerPods.class);

    private final PodWorkers workers;
    private boolean watching;

    /** Creates an instance without pods. */
    public ServerPods(PodWorkers workers) {
        this.workers = workers;
    }

    @Override
    public void replace(List<Fetched<Pod>> items, String resourceVersion) {
        Set<String> listed = new HashSet<>();
        for (Fetched<Pod> item : items) {
            upsert(item);
            listed.add(String.valueOf(item.object().getMetadata().getUid()));
        }
        workers.listed(listed);
    }

    /** Adds or replaces a pod. A mirror pod is ignored: its static pod runs. */
    @Override
    public void upsert(Fetched<Pod> fetched) {
        Pod pod = fetched.object();
        if (Strings.isNullOrEmpty(pod.getMetadata().getUid())) {
            log.warn(
                    "pod {}/{} has no UID, so it does not run on this node: every pod of an API server has one",
                    pod.getMetadata().getNamespace(),
                    pod.getMetadata().getName());
        } else if (!PodOrigin.isMirror(pod)) {
            workers.put(PodOrigin.fromServer(pod));
        }
    }

    @Override
    public void delete(Fetched<Pod> last) {
        workers.remove(PodOrigin.fromServer(last.object()));
    }

    @Override
    public void connected() {
        watching = true;
    }

    @Override
    public void disconnected(ApiServerException cause) {
        if (watching && cause.reason() != FailureReason.EXPIRED) {
            log.warn("watch of the pods of this node failed; retrying: {}", cause.getMessage());
        }
        watching = false;
    }
}
