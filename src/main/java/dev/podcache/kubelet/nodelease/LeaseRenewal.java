package dev.podcache.kubelet.nodelease;

import dev.podcache.object.ObjectKey;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import org.jspecify.annotations.Nullable;

/** What is written into the lease of one node. Pure: arguments are never modified. Immutable. */
final class LeaseRenewal {

    private static final String NAMESPACE = "kube-node-lease";

    private final ObjectKey key;
    private final int seconds;

    LeaseRenewal(String nodeName, int seconds) {
        this.key = ObjectKey.of(NAMESPACE, nodeName);
        this.seconds = seconds;
    }

    ObjectKey key() {
        return key;
    }

    /**
     * The lease to write.
     *
     * @param base the one to renew, of which all but duration and time is kept; null for a new one
     * @param renewTime in whole microseconds
     */
    Lease renewed(@Nullable Lease base, Instant renewTime) {
        LeaseBuilder lease = base == null ? fresh() : new LeaseBuilder(base);
        return lease.editOrNewSpec()
                .withLeaseDurationSeconds(seconds)
                .withRenewTime(ZonedDateTime.ofInstant(renewTime, ZoneOffset.UTC))
                .endSpec()
                .build();
    }

    /** Whether nobody would remove the lease with its node yet. */
    boolean lacksOwner(@Nullable Lease base) {
        return base == null || base.getMetadata().getOwnerReferences().isEmpty();
    }

    /** The lease with {@code node} as its owner. */
    Lease ownedBy(Node node, Lease lease) {
        OwnerReference owner = new OwnerReferenceBuilder()
                .withApiVersion("v1")
                .withKind("Node")
                .withName(key.name())
                .withUid(node.getMetadata().getUid())
                .build();
        return new LeaseBuilder(lease)
                .editMetadata()
                .withOwnerReferences(owner)
                .endMetadata()
                .build();
    }

    private LeaseBuilder fresh() {
        return new LeaseBuilder()
                .withNewMetadata()
                .withNamespace(key.namespace())
                .withName(key.name())
                .endMetadata()
                .withNewSpec()
                .withHolderIdentity(key.name())
                .endSpec();
    }
}
