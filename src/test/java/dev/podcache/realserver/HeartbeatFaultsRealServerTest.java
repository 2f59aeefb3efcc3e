package dev.podcache.realserver;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer.Heartbeats;
import dev.podcache.kubelet.nodelease.NodeLeaseController;
import dev.podcache.kubelet.nodelease.NodeLeaseOptions;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.TcpProxy;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether a node stays alive for kube-apiserver itself, whatever the network does: a lease of 20 s that is renewed
 * every 5 s, so that a busy machine loses none. The bounds are those of a lease of 40 s, scaled; the exact ones are held by
 * {@code HeartbeatFaultsTest} in hand-driven time.
 */
@RealServerTest
@NullUnmarked
@ExtendWith(NoLeaks.class)
class HeartbeatFaultsRealServerTest {

    private static final Logger log = LoggerFactory.getLogger(HeartbeatFaultsRealServerTest.class);
    private static final Duration LEASE = Duration.ofSeconds(20);

    /** 30 of 40 s. */
    private static final Duration GOAL = Duration.ofSeconds(15);

    private final RealApiServer real = RealApiServer.shared();
    private final TestNamespace namespace = new TestNamespace(real);
    private final KubernetesClient admin = namespace.admin();
    private final TcpProxy proxy = namespace.proxy();
    private final KubernetesClient client = TestNamespace.through(proxy, real.config());
    private final Fabric8ApiServer server = Fabric8ApiServer.of(client);
    private final Heartbeats heartbeats = server.heartbeats(LEASE);
    private final Node node = admin.resource(new NodeBuilder()
                    .withNewMetadata()
                    .withGenerateName("beats-")
                    .endMetadata()
                    .build())
            .create();
    private final String name = node.getMetadata().getName();
    private final NodeLeaseController controller = new NodeLeaseController(
            heartbeats.leases(),
            heartbeats.nodes(),
            new NodeLeaseOptions(name, LEASE, heartbeats::reconnect),
            server.timekeeper());
    private final List<ZonedDateTime> renewals = new ArrayList<>();

    /** What stops. */
    enum Frozen {
        BOTH,
        TO_SERVER,
        TO_CLIENT
    }

    @BeforeEach
    void start(NoLeaks leaks) {
        leaks.allowWarnings("reading or creating the Lease");
        leaks.allowWarnings("could not be renewed in 5 tries");
        controller.startAsync().awaitRunning();
        awaitRenewals(2);
    }

    @AfterEach
    void tearDown() {
        controller.stopAsync().awaitTerminated();
        server.close();
        proxy.close();
        lease().delete();
        admin.resource(node).delete();
        client.close();
        namespace.close();
    }

    @ParameterizedTest
    @EnumSource
    void connectionFreezes_leaseIsRenewedOverAnother(Frozen frozen) {
        switch (frozen) {
            case BOTH -> proxy.freeze();
            case TO_SERVER -> proxy.freeze(TcpProxy.Direction.TO_SERVER);
            case TO_CLIENT -> proxy.freeze(TcpProxy.Direction.TO_CLIENT);
        }
        awaitRenewals(2);

        assertThat(longestGap()).isLessThan(GOAL);
        assertThat(proxy.accepted()).isGreaterThanOrEqualTo(2);
    }

    @Test
    void eachAnswerTakesLongerThanAFirstHeartbeatMay_leaseIsRenewed() {
        // 3.5 s of 40 there and back. A new connection takes twice that, and may take at most 5 s of 20: the longer
        // the delay, the less is left for a slow machine.
        proxy.delay(Duration.ofMillis(875));
        awaitRenewals(3);

        assertThat(longestGap()).isLessThan(GOAL);
    }

    @Test
    void slowNetwork_leaseIsRenewed() {
        proxy.throttle(1_600); // a renewal has some 1,000 bytes, a new connection 4,000
        awaitRenewals(3);

        assertThat(longestGap()).isLessThan(GOAL);
    }

    @Test
    void connectionIsReset_leaseIsRenewedAtWhereTheServerIsNow() {
        try (TcpProxy elsewhere = namespace.proxy()) {
            proxy.leadTo(elsewhere.port());
            proxy.reset();
            awaitRenewals(2);

            assertThat(longestGap()).isLessThan(GOAL);
            assertThat(elsewhere.accepted()).isPositive();
        }
    }

    private void awaitRenewals(int more) {
        int until = renewals.size() + more;
        await().pollInterval(Duration.ofMillis(50)).until(() -> {
            Lease there = lease().get();
            if (there != null && !renewals.contains(there.getSpec().getRenewTime())) {
                renewals.add(there.getSpec().getRenewTime());
            }
            return renewals.size() >= until;
        });
    }

    private Duration longestGap() {
        Duration longest = Duration.ZERO;
        for (int i = 1; i < renewals.size(); i++) {
            Duration gap = Duration.between(renewals.get(i - 1), renewals.get(i));
            longest = gap.compareTo(longest) > 0 ? gap : longest;
        }
        log.info("renewals were at most {} ms apart", longest.toMillis());
        return longest;
    }

    private Resource<Lease> lease() {
        return admin.leases().inNamespace("kube-node-lease").withName(name);
    }
}
