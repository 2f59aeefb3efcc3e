package dev.podcache.realserver;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer.Heartbeats;
import dev.podcache.kubelet.nodestatus.InitialNode;
import dev.podcache.kubelet.nodestatus.NodeStatusOptions;
import dev.podcache.kubelet.nodestatus.NodeStatusUpdater;
import dev.podcache.kubelet.nodestatus.NodeTaints;
import dev.podcache.node.NodeLister;
import dev.podcache.object.ObjectKind;
import dev.podcache.reflector.Recovery;
import dev.podcache.testing.Needs;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.ServerFeature;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeAddress;
import io.fabric8.kubernetes.api.model.NodeConditionBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A node that registers and reports itself, as kube-apiserver takes it. */
@RealServerTest
@ExtendWith(NoLeaks.class)
class NodeStatusRealServerTest {

    private static final AtomicInteger NUMBER = new AtomicInteger();

    private final KubernetesClient admin = RealApiServer.shared().client();
    private static final String ATTACH_DETACH = "volumes.kubernetes.io/controller-managed-attach-detach";

    private final Fabric8ApiServer server = Fabric8ApiServer.of(admin);
    private final Heartbeats heartbeats = server.heartbeats(Duration.ofSeconds(40));
    private final String name = "reported-" + NUMBER.incrementAndGet();
    private final NodeLister lister = NodeLister.following(
            name,
            server.listerWatcher(ObjectKind.NODE, "", "metadata.name=" + name),
            new Recovery(server.timekeeper(), () -> 0.0));

    private volatile String memory = "1Gi";
    private volatile List<NodeAddress> addresses = List.of(ip("10.0.0.1"), ip("fd00::1"));
    private NodeStatusUpdater updater = updater(InitialNode.builder(name, "linux", "amd64")
            .taints(NodeTaints.parse("dedicated=test:NoSchedule"))
            .build());

    @BeforeEach
    void start() {
        updater.start();
        await().until(() -> updater.state().lastReport().isPresent());
    }

    @AfterEach
    void close() {
        updater.close();
        lister.close();
        admin.nodes().withName(name).delete();
        server.close();
        admin.close();
    }

    @Test
    void start_noNode_createsOneWithLabelsTaintsAndCapacity() {
        Node node = node();

        assertThat(node.getMetadata().getLabels()).containsEntry("kubernetes.io/hostname", name);
        assertThat(node.getSpec().getTaints())
                .extracting(taint -> tuple(taint.getKey(), taint.getValue(), taint.getEffect()))
                .contains(tuple("dedicated", "test", "NoSchedule"));
        assertThat(node.getStatus().getCapacity()).containsEntry("memory", new Quantity("1Gi"));
    }

    @Test
    @Needs(ServerFeature.PRINTERS)
    void start_noNode_createsOneThatKubectlShowsAsReady() {
        assertThat(RealApiServer.shared().kubectl("get", "node", name))
                .contains("Ready")
                .doesNotContain("NotReady");
    }

    @Test
    void start_again_putsTheSameNodeRight() {
        String uid = node().getMetadata().getUid();
        updater.close();
        admin.nodes().withName(name).edit(node -> {
            node.getMetadata().getLabels().put("kubernetes.io/arch", "wrong");
            node.getMetadata().getLabels().put("kept", "yes");
            node.getMetadata().getAnnotations().put(ATTACH_DETACH, "false");
            return node;
        });

        updater = updater(InitialNode.builder(name, "linux", "amd64").build());
        updater.start();
        await().until(() -> updater.state().lastReport().isPresent());

        Node node = node();
        assertThat(node.getMetadata().getUid()).isEqualTo(uid);
        assertThat(node.getMetadata().getLabels())
                .containsAllEntriesOf(Map.of("kubernetes.io/arch", "amd64", "kept", "yes"));
        assertThat(node.getMetadata().getAnnotations()).containsEntry(ATTACH_DETACH, "true");
    }

    @Test
    void sync_news_isPatchedWithAllAddresses() {
        memory = "2Gi";
        addresses = List.of(ip("10.0.0.2"), ip("fd00::2"), new NodeAddress(name, "Hostname"));
        updater.syncSoon();

        await().until(() -> node().getStatus().getCapacity().get("memory").equals(new Quantity("2Gi")));
        assertThat(node().getStatus().getAddresses()).isEqualTo(addresses);
        assertThat(node().getStatus().getConditions()).hasSize(1);
    }

    @Test
    void sync_nodeDeletedByHand_registersItAgain(NoLeaks leaks) {
        leaks.allowWarnings("registering it again");
        String uid = node().getMetadata().getUid();

        admin.nodes().withName(name).delete();

        await().ignoreExceptions().until(() -> !node().getMetadata().getUid().equals(uid));
        await().until(() -> updater.state().registered());
        assertThat(node().getStatus().getConditions()).hasSize(1);
    }

    private NodeStatusUpdater updater(InitialNode node) {
        return new NodeStatusUpdater(
                heartbeats.nodes(),
                lister,
                server.timekeeper(),
                NodeStatusOptions.builder(node)
                        .setters(List.of(this::set))
                        .updateFrequency(Duration.ofMillis(500))
                        .registerAgain(true)
                        .build());
    }

    private void set(Node node, Instant now) {
        node.getStatus().setCapacity(Map.of("memory", new Quantity(memory)));
        node.getStatus().setAddresses(addresses);
        String since = node.getStatus().getConditions().stream()
                .map(condition -> condition.getLastTransitionTime())
                .findFirst()
                .orElse(now.truncatedTo(ChronoUnit.SECONDS).toString());
        node.getStatus()
                .setConditions(List.of(new NodeConditionBuilder()
                        .withType("Ready")
                        .withStatus("True")
                        .withReason("Testing")
                        .withLastHeartbeatTime(
                                now.truncatedTo(ChronoUnit.SECONDS).toString())
                        .withLastTransitionTime(since)
                        .build()));
    }

    private Node node() {
        return admin.nodes().withName(name).require();
    }

    private static NodeAddress ip(String address) {
        return new NodeAddress(address, "InternalIP");
    }
}
