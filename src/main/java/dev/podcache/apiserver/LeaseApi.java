package dev.podcache.apiserver;

import dev.podcache.object.ObjectKey;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.util.concurrent.CompletableFuture;

/**
 * What a node agent asks of the API server about a Lease. Thread-safe; the calls behave as those of {@link NodeApi}.
 */
public interface LeaseApi {

    /** Reads the latest committed state. */
    CompletableFuture<Lease> get(ObjectKey key);

    /**
     * Creates the lease.
     *
     * @return exceptionally {@link dev.podcache.object.FailureReason#ALREADY_EXISTS} if there is one of that name
     */
    CompletableFuture<Lease> create(Lease lease);

    /**
     * Replaces the lease, if nobody else changed it since the version that {@code lease} has.
     *
     * @return exceptionally {@link dev.podcache.object.FailureReason#CONFLICT} if somebody did
     */
    CompletableFuture<Lease> update(Lease lease);
}
