package dev.podcache.controlplane.cluster;

import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.time.ZonedDateTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** When each node has renewed its Lease, by the name of the node. */
final class LeaseTable implements CacheTable<Lease> {

    private final ClusterListeners listeners;
    private final Map<String, ZonedDateTime> renewTimes = new HashMap<>();

    LeaseTable(ClusterListeners listeners) {
        this.listeners = listeners;
    }

    @Nullable
    ZonedDateTime renewTime(String node) {
        return renewTimes.get(node);
    }

    @Override
    public void replace(List<Lease> objects) {
        renewTimes.clear();
        objects.forEach(this::put);
    }

    @Override
    public void put(Lease object) {
        ZonedDateTime renewed =
                object.getSpec() == null ? null : object.getSpec().getRenewTime();
        if (renewed == null) {
            remove(object);
        } else {
            String node = object.getMetadata().getName();
            renewTimes.put(node, renewed);
            listeners.tell(listener -> listener.leaseRenewed(node, renewed));
        }
    }

    @Override
    public void remove(Lease last) {
        renewTimes.remove(last.getMetadata().getName());
    }
}
