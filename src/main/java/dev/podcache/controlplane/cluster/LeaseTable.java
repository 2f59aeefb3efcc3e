package dev.podcache.controlplane.cluster;

import dev.podcache.time.ApiTime;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.time.ZonedDateTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** When each node has renewed its Lease, by the name of the node. In microseconds since 1970. */
final class LeaseTable implements CacheTable<Lease> {

    private final ClusterListeners listeners;
    private final Map<String, Renewal> renewals = new HashMap<>();

    /** Is kept from one renewal of a node to the next: there are many. */
    private static final class Renewal {
        long time = ClusterCache.NEVER;
    }

    LeaseTable(ClusterListeners listeners) {
        this.listeners = listeners;
    }

    long renewTime(String node) {
        Renewal last = renewals.get(node);
        return last == null ? ClusterCache.NEVER : last.time;
    }

    @Override
    public void replace(List<Lease> objects) {
        renewals.clear();
        objects.forEach(this::put);
    }

    /** Returns when a Lease was renewed; {@link ClusterCache#NEVER} if it never was. */
    static long renewTime(Lease lease) {
        ZonedDateTime renewed = lease.getSpec() == null ? null : lease.getSpec().getRenewTime();
        return renewed == null ? ClusterCache.NEVER : ApiTime.micros(renewed);
    }

    @Override
    public void put(Lease object) {
        long time = renewTime(object);
        if (time == ClusterCache.NEVER) {
            remove(object);
        } else {
            String node = object.getMetadata().getName();
            renewals.computeIfAbsent(node, first -> new Renewal()).time = time;
            listeners.tell(listener -> listener.leaseRenewed(node, time));
        }
    }

    @Override
    public void remove(Lease last) {
        renewals.remove(last.getMetadata().getName());
    }
}
