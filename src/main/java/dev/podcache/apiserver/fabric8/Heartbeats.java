package dev.podcache.apiserver.fabric8;

import dev.podcache.apiserver.ObjectApi;
import dev.podcache.apiserver.http.SerialRequests;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;

/**
 * What a node says of itself to be believed alive, its status and its lease, over one connection of their own, one
 * after the other ({@link SerialRequests}). These requests do not count against the {@link RequestLimit}. Thread-safe.
 *
 * <p>A call has the time that {@code SerialRequests} gives it from when its turn comes: at first 3 s or a
 * twelfth of the lease's duration, never more than a quarter. So it completes at the latest after as many
 * quarters as there are calls under way.
 */
public final class Heartbeats implements AutoCloseable {

    private final SerialRequests connection;
    private final ObjectApi<Node> nodes;
    private final ObjectApi<Lease> leases;

    /**
     * Heartbeats.
     *
     * @param connection closed with this
     */
    Heartbeats(SerialRequests connection, KubernetesSerialization serialization) {
        this.connection = connection;
        this.nodes = new Fabric8ObjectApi<>(ObjectKind.NODE, serialization, connection::send);
        this.leases = new Fabric8ObjectApi<>(ObjectKind.LEASE, serialization, connection::send);
    }

    /** The port to our Node. */
    public ObjectApi<Node> nodes() {
        return nodes;
    }

    /** The port to our Lease. */
    public ObjectApi<Lease> leases() {
        return leases;
    }

    /**
     * Has the next request sent over a new connection; to be called when heartbeats fail repeatedly, as upstream's
     * onRepeatedHeartbeatFailure is. A request that is under way is not disturbed. Returns at once.
     */
    public void reconnect() {
        connection.reconnect();
    }

    /**
     * Fails requests under way, closes the connection and ends its threads; waits for them at most 10 s. Idempotent.
     */
    @Override
    public void close() {
        connection.close();
    }
}
