package dev.podcache.apiserver.fabric8;

import dev.podcache.apiserver.ObjectApi;
import dev.podcache.apiserver.http.SerialRequests;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;

/**
 * The heartbeats of one node: its status and its Lease. They are sent one after another over their own connection
 * ({@link SerialRequests}), and do not count against the {@link RequestLimit}. Thread-safe.
 *
 * <p>The timeout of a call starts when all calls before it have ended. It is 3 s or a twelfth of the lease duration at
 * first, and a quarter of the lease duration at most. So a call completes after one quarter for each call in the queue,
 * itself included, at the latest.
 */
public final class Heartbeats implements AutoCloseable {

    private final SerialRequests connection;
    private final ObjectApi<Node> nodes;
    private final ObjectApi<Lease> leases;

    /**
     * Creates the heartbeats of one node.
     *
     * @param connection sends the requests; closed by {@link #close}
     */
    Heartbeats(SerialRequests connection, KubernetesSerialization serialization) {
        this.connection = connection;
        this.nodes = new Fabric8ObjectApi<>(ObjectKind.NODE, serialization, connection::send);
        this.leases = new Fabric8ObjectApi<>(ObjectKind.LEASE, serialization, connection::send);
    }

    /** Returns the port to the Node. */
    public ObjectApi<Node> nodes() {
        return nodes;
    }

    /** Returns the port to the Lease. */
    public ObjectApi<Lease> leases() {
        return leases;
    }

    /**
     * Makes the next request use a new connection. Call this when heartbeats fail repeatedly, as upstream does with
     * onRepeatedHeartbeatFailure. Does not affect a request in flight. Returns at once.
     */
    public void reconnect() {
        connection.reconnect();
    }

    /**
     * Fails all requests, closes the connection and stops its threads; waits for them at most 10 s. Idempotent.
     */
    @Override
    public void close() {
        connection.close();
    }
}
