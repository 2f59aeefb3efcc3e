package dev.podcache.kubelet.nodelease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The cases of upstream's TestNewNodeLease, and the fields that a renewal keeps. */
class LeaseRenewalTest {

    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00.123456Z");
    private static final Node FOO = new NodeBuilder()
            .withNewMetadata()
            .withName("foo")
            .withUid("foo-uid")
            .endMetadata()
            .build();
    private static final OwnerReference OWNER = new OwnerReferenceBuilder()
            .withApiVersion("v1")
            .withKind("Node")
            .withName("foo")
            .withUid("foo-uid")
            .build();

    static Stream<Arguments> newNodeLease() {
        return Stream.of(
                Arguments.of("no base, node missing", 10, null, null, lease(10, NOW, List.of())),
                Arguments.of("no base, node exists", 10, null, FOO, lease(10, NOW, List.of(OWNER))),
                Arguments.of(
                        "base without owner",
                        10,
                        lease(10, NOW.minusSeconds(10), List.of()),
                        FOO,
                        lease(10, NOW, List.of(OWNER))),
                Arguments.of(
                        "base with owner",
                        10,
                        lease(10, NOW.minusSeconds(10), List.of(OWNER)),
                        null,
                        lease(10, NOW, List.of(OWNER))),
                Arguments.of(
                        "base with another duration",
                        456,
                        lease(123, NOW.minusSeconds(10), List.of(OWNER)),
                        null,
                        lease(456, NOW, List.of(OWNER))));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("newNodeLease")
    void renewed_basesOfUpstream_areRenewedIntoANewObject(
            String name, int seconds, @Nullable Lease base, @Nullable Node node, Lease expected) {
        LeaseRenewal renewal = new LeaseRenewal("foo", seconds);
        Lease before = base == null ? null : new LeaseBuilder(base).build();

        Lease renewed = renewal.renewed(base, NOW);
        if (renewal.lacksOwner(base) && node != null) {
            renewed = renewal.ownedBy(node, renewed);
        }

        assertThat(renewed).isEqualTo(expected).isNotSameAs(base);
        assertThat(base).isEqualTo(before);
    }

    @Test
    void renewed_fieldsOfOtherClients_areKept() {
        Lease base = new LeaseBuilder(lease(40, NOW, List.of(OWNER)))
                .editMetadata()
                .addToLabels("a", "b")
                .withResourceVersion("7")
                .endMetadata()
                .editSpec()
                .withHolderIdentity("somebody")
                .withLeaseTransitions(3)
                .endSpec()
                .build();

        Lease renewed = new LeaseRenewal("foo", 40).renewed(base, NOW.plusSeconds(10));

        assertThat(renewed)
                .isEqualTo(new LeaseBuilder(base)
                        .editSpec()
                        .withRenewTime(utc(NOW.plusSeconds(10)))
                        .endSpec()
                        .build());
    }

    @Test
    void ownedBy_doesNotClaimToControl() {
        Lease owned = new LeaseRenewal("foo", 40).ownedBy(FOO, lease(40, NOW, List.of()));

        OwnerReference owner = owned.getMetadata().getOwnerReferences().get(0);
        assertThat(owner.getController()).isNull();
        assertThat(owner.getBlockOwnerDeletion()).isNull();
    }

    @ParameterizedTest
    @CsvSource({"PT0S, 0s", "PT-40S, -40s", "PT1.5S, 1.5s", "PT3000000000S, 833333h20m0s"})
    void options_invalidDuration_isRefused(Duration duration, String shown) {
        assertThatThrownBy(() -> new NodeLeaseOptions("foo", duration, () -> {}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageEndingWith("but is " + shown)
                .hasMessageContaining("whole seconds");
    }

    private static Lease lease(int seconds, Instant renewTime, List<OwnerReference> owners) {
        return new LeaseBuilder()
                .withNewMetadata()
                .withNamespace("kube-node-lease")
                .withName("foo")
                .withOwnerReferences(owners)
                .endMetadata()
                .withNewSpec()
                .withHolderIdentity("foo")
                .withLeaseDurationSeconds(seconds)
                .withRenewTime(utc(renewTime))
                .endSpec()
                .build();
    }

    private static ZonedDateTime utc(Instant instant) {
        return ZonedDateTime.ofInstant(instant, ZoneOffset.UTC);
    }
}
