package dev.podcache.apiserver.fabric8;

import dev.podcache.apiserver.LeaseApi;
import dev.podcache.apiserver.NodeApi;
import dev.podcache.apiserver.http.SerialRequests;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.concurrent.CompletableFuture;

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
    private final NodeApi nodes;
    private final LeaseApi leases;

    /**
     * Heartbeats.
     *
     * @param connection closed with this
     */
    Heartbeats(SerialRequests connection, KubernetesSerialization serialization) {
        this.connection = connection;
        this.nodes = new Nodes(new ObjectRequests<>(ObjectKind.NODE, serialization, connection::send));
        this.leases = new Leases(new ObjectRequests<>(ObjectKind.LEASE, serialization, connection::send));
    }

    /** The port to our Node. */
    public NodeApi nodes() {
        return nodes;
    }

    /** The port to our Lease. */
    public LeaseApi leases() {
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

    private record Nodes(ObjectRequests<Node> requests) implements NodeApi {

        @Override
        public CompletableFuture<Node> get(String name) {
            return requests.get(ObjectKey.of("", name));
        }

        @Override
        public CompletableFuture<Node> create(Node node) {
            return requests.create(node);
        }

        @Override
        public CompletableFuture<Node> patchStatus(String name, String patch) {
            return requests.patchStatus(ObjectKey.of("", name), patch);
        }
    }

    private record Leases(ObjectRequests<Lease> requests) implements LeaseApi {

        @Override
        public CompletableFuture<Lease> get(ObjectKey key) {
            return requests.get(key);
        }

        @Override
        public CompletableFuture<Lease> create(Lease lease) {
            return requests.create(lease);
        }

        @Override
        public CompletableFuture<Lease> update(Lease lease) {
            return requests.update(lease);
        }
    }
}
