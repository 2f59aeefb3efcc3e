package dev.podcache.kubelet.nodelease;

import dev.podcache.object.ObjectKey;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseSpec;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseSpecBuilder;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import org.jspecify.annotations.Nullable;

/** Builds the Lease of one node for each request. Arguments are never modified. Immutable. */
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
     * Returns the Lease to send.
     *
     * @param base the Lease to renew, which keeps everything but its duration and renewTime; null for a new Lease
     * @param renewTime in whole microseconds
     */
    Lease renewed(@Nullable Lease base, Instant renewTime) {
        Lease known = base == null ? fresh() : base;
        LeaseSpec before = known.getSpec() == null ? new LeaseSpec() : known.getSpec();
        // by a builder, which also keeps a field that a later version of the model adds
        LeaseSpec spec = new LeaseSpecBuilder(before)
                .withLeaseDurationSeconds(seconds)
                .withRenewTime(utc(renewTime))
                .build();
        Lease renewed = new Lease();
        renewed.setApiVersion(known.getApiVersion());
        renewed.setKind(known.getKind());
        renewed.setMetadata(known.getMetadata());
        renewed.setSpec(spec);
        renewed.setAdditionalProperties(known.getAdditionalProperties());
        return renewed;
    }

    /** Does what {@link ZonedDateTime#ofInstant} does, which creates the rules of the time zone each time. */
    private static ZonedDateTime utc(Instant time) {
        return LocalDateTime.ofEpochSecond(time.getEpochSecond(), time.getNano(), ZoneOffset.UTC)
                .atZone(ZoneOffset.UTC);
    }

    /** Whether the Lease does not exist or has no owner, so that it would not be deleted with its Node. */
    boolean lacksOwner(@Nullable Lease base) {
        return base == null || base.getMetadata().getOwnerReferences().isEmpty();
    }

    /** Returns {@code lease} with {@code node} as its only owner. */
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

    private Lease fresh() {
        return new LeaseBuilder()
                .withNewMetadata()
                .withNamespace(key.namespace())
                .withName(key.name())
                .endMetadata()
                .withNewSpec()
                .withHolderIdentity(key.name())
                .endSpec()
                .build();
    }
}
