package dev.podcache.kubelet.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Resource;
import dev.podcache.embedded.Verb;
import dev.podcache.kubelet.eviction.PodRejection;
import dev.podcache.kubelet.nodestatus.NodeImage;
import dev.podcache.kubelet.runtime.RuntimeStatus;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Pods;
import dev.podcache.testing.Slow;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.NodeConditionBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.TaintBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A node from its registration to its end, and through what may happen to it. */
@Slow
@ExtendWith(NoLeaks.class)
class NodeAgentTest {

    @RegisterExtension
    final AgentFixture fixture = new AgentFixture();

    private void advance(Duration duration) {
        fixture.timekeeper.advance(duration);
    }

    @Test
    void start_nodeIsRegisteredAndReadyAndItsLeaseRenewed() {
        NodeAgent agent = fixture.start();

        advance(Duration.ofSeconds(15));

        assertThat(fixture.ready()).isEqualTo("True");
        assertThat(fixture.lease().getSpec().getHolderIdentity()).isEqualTo(AgentFixture.NODE);
        assertThat(fixture.lease().getMetadata().getOwnerReferences().get(0).getUid())
                .isEqualTo(fixture.node().getMetadata().getUid());
        assertThat(agent.status().registered()).isTrue();
        assertThat(agent.sinceRenewal()).isPresent();
    }

    @Test
    void start_registrationFailsAtFirst_leaseComesRightAfterTheNode(NoLeaks leaks) {
        leaks.allowWarnings("was not registered: ");
        fixture.server.failNext(
                2,
                failure(FailureReason.UNAVAILABLE, 503),
                RequestPattern.any().verb(Verb.CREATE).resource(Resource.NODES));
        fixture.start();

        advance(Duration.ofSeconds(2));

        assertThat(fixture.lease().getMetadata().getOwnerReferences().get(0).getUid())
                .isEqualTo(fixture.node().getMetadata().getUid());
    }

    @Test
    void start_assignedPods_areReportedRunning() {
        fixture.createPods(110);
        fixture.start();

        advance(Duration.ofSeconds(15));

        for (int i = 0; i < 110; i++) {
            assertThat(fixture.pod("web-" + i).getStatus().getPhase()).isEqualTo("Running");
        }
    }

    @Test
    void configuration_isWhatTheNodeSays() {
        NodeAgent agent = fixture.agent(Map.of(
                "nodeLabels", "disk=ssd",
                "maxPods", BigDecimal.valueOf(7),
                "systemReserved", Map.of("cpu", "500m", "memory", "1Gi"),
                "evictionHard", Map.of("memory.available", "1Gi")));
        agent.start();
        advance(Duration.ofSeconds(1));

        Node node = fixture.node();
        assertThat(node.getMetadata().getLabels()).containsEntry("disk", "ssd");
        assertThat(node.getStatus().getCapacity().get("pods")).hasToString("7");
        assertThat(node.getStatus().getAllocatable().get("cpu")).hasToString("1500m");
        assertThat(node.getStatus().getAllocatable().get("memory"))
                .extracting(memory -> memory.getNumericalAmount().longValueExact())
                .isEqualTo(6L << 30);
        assertThat(node.getStatus().getAddresses().get(0).getAddress()).isEqualTo("192.0.2.7");
        assertThat(node.getStatus().getNodeInfo().getContainerRuntimeVersion()).isEqualTo("hollow://1");
    }

    @Test
    void reservedMoreThanThereIs_isRefusedWithNamesAndNumbers() {
        assertThatThrownBy(() -> fixture.agent(Map.of("systemReserved", Map.of("memory", "100Gi"))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("memory")
                .hasMessageContaining("8Gi");
    }

    @Test
    void anHourOfSteadyState_makesNoRequestBeyondLeasesAndReports() {
        fixture.createPods(110);
        fixture.start();
        advance(Duration.ofMinutes(20));
        fixture.server.clearActions();

        advance(Duration.ofHours(1));

        Map<String, Long> calls = fixture.calls();
        // every 10 s and at most 4 % more
        assertThat(calls.remove("UPDATE Lease")).isBetween(345L, 361L);
        // every 5 min, with the granularity of the 10 s at which it is looked at
        assertThat(calls.remove("PATCH Node")).isBetween(11L, 12L);
        // those that the server, or our own bound of 30 to 60 min, ended: each watch once or twice
        long watches = 110 * 5 + 3;
        assertThat(calls.entrySet())
                .allMatch(call -> call.getKey().startsWith("WATCH ") && call.getValue() <= 2 * watches);
    }

    @Test
    void nodeDeletedByHandAndRegisterAgain_isRegisteredAgain(NoLeaks leaks) {
        leaks.allowWarnings("registering it again");
        fixture.agent(options -> options.registerAgain(true)).start();
        advance(Duration.ofSeconds(15));
        String before = fixture.node().getMetadata().getUid();

        fixture.server.cluster().delete(fixture.node());
        advance(Duration.ofSeconds(25));

        assertThat(fixture.node().getMetadata().getUid()).isNotEqualTo(before);
        assertThat(fixture.ready()).isEqualTo("True");
    }

    @Test
    void leaseDeletedByHand_isCreatedAgain(NoLeaks leaks) {
        leaks.allowWarnings("could not be renewed in 5 tries");
        fixture.start();
        advance(Duration.ofSeconds(15));

        fixture.server.cluster().delete(fixture.lease());
        advance(Duration.ofSeconds(11));

        assertThat(fixture.exists(Lease.class, ObjectKey.of("kube-node-lease", AgentFixture.NODE)))
                .isTrue();
    }

    @Test
    void conflicts_whateverTheirNumber_neverKeepTheLeaseFromItsRenewal(NoLeaks leaks) {
        leaks.allowWarnings("lease");
        fixture.start();
        advance(Duration.ofSeconds(15));
        String before = fixture.lease().getSpec().getRenewTime().toString();

        fixture.server.failNext(
                4, failure(FailureReason.CONFLICT, 409), RequestPattern.any().resource(Resource.LEASES));
        advance(Duration.ofSeconds(11));

        assertThat(fixture.lease().getSpec().getRenewTime().toString()).isGreaterThan(before);
    }

    @Test
    void serverDownForAMinute_everythingGoesOnAfterwards(NoLeaks leaks) {
        leaks.allowWarnings("trying");
        leaks.allowWarnings("could not be renewed in 5 tries");
        leaks.allowWarnings("reading or creating the Lease of Node ");
        fixture.createPods(3);
        fixture.start();
        advance(Duration.ofSeconds(15));

        fixture.server.failNext(Integer.MAX_VALUE, failure(FailureReason.UNAVAILABLE, 0));
        fixture.server.resetWatches();
        advance(Duration.ofMinutes(1));
        fixture.server.clearFailures();
        fixture.createLatePod();
        advance(Duration.ofSeconds(45));

        assertThat(fixture.lease().getSpec().getRenewTime().toInstant())
                .isAfter(fixture.timekeeper.wallTime().minusSeconds(20));
        assertThat(fixture.ready()).isEqualTo("True");
        assertThat(fixture.pod("late").getStatus().getPhase()).isEqualTo("Running");
    }

    @Test
    void restart_reconcilesAndNeverRecreates() {
        fixture.createPods(2);
        NodeAgent first = fixture.start();
        advance(Duration.ofSeconds(15));
        String uid = fixture.node().getMetadata().getUid();
        first.close();
        fixture.server.clearActions();

        fixture.start();
        advance(Duration.ofSeconds(15));

        assertThat(fixture.node().getMetadata().getUid()).isEqualTo(uid);
        assertThat(fixture.calls()).doesNotContainKeys("CREATE Lease", "PATCH Pod", "DELETE Pod");
        assertThat(fixture.server.cluster().requests().of(Verb.CREATE, Resource.LEASES))
                .isEqualTo(1);
    }

    @Test
    void close_everythingStaysAndNothingIsAskedAnyMore() {
        fixture.createPods(2);
        NodeAgent agent = fixture.start();
        advance(Duration.ofSeconds(15));

        agent.close();
        fixture.server.clearActions();
        advance(Duration.ofMinutes(10));

        assertThat(fixture.server.actions()).isEmpty();
        assertThat(fixture.server.openWatches()).isZero();
        assertThat(fixture.exists(Node.class, AgentFixture.NODE_KEY)).isTrue();
        assertThat(fixture.pod("web-0").getStatus().getPhase()).isEqualTo("Running");
    }

    @Test
    void registerNodeIsOff_nodeIsReportedOnceSomebodyCreatesIt(NoLeaks leaks) {
        leaks.allowWarnings("was not reported: GET Node worker-1 was answered 404");
        fixture.agent(Map.of("registerNode", false)).start();
        advance(Duration.ofSeconds(30));
        assertThat(fixture.exists(Node.class, AgentFixture.NODE_KEY)).isFalse();

        Node node = new Node();
        node.setMetadata(new io.fabric8.kubernetes.api.model.ObjectMetaBuilder()
                .withName(AgentFixture.NODE)
                .build());
        fixture.server.cluster().create(node);
        advance(Duration.ofSeconds(25));

        assertThat(fixture.ready()).isEqualTo("True");
    }

    @Test
    void nodeDeletedByHand_staysDeleted_andItsLeaseIsNotRenewed(NoLeaks leaks) {
        leaks.allowWarnings("was deleted, so it is neither registered nor reported");
        NodeAgent agent = fixture.start();
        advance(Duration.ofSeconds(15));

        fixture.server.cluster().delete(fixture.node());
        advance(Duration.ofMinutes(1));
        fixture.server.clearActions();
        advance(Duration.ofMinutes(1));

        assertThat(fixture.calls()).doesNotContainKeys("UPDATE Lease", "GET Lease", "CREATE Lease");

        assertThat(fixture.exists(Node.class, AgentFixture.NODE_KEY)).isFalse();
        assertThat(agent.status().problem()).hasValue("Node worker-1 was deleted");
    }

    /** A pod that is scheduled to such a node becomes Running and does nothing. */
    @Test
    void hollowNode_isTainted() {
        fixture.start();
        advance(Duration.ofSeconds(1));

        assertThat(fixture.node().getSpec().getTaints())
                .extracting(Taint::getKey, Taint::getEffect)
                .contains(tuple("podcache.dev/hollow", "NoSchedule"));
    }

    @Test
    void hollowNode_taintsAreGiven_hasOnlyThese() {
        fixture.agent(options -> options.taints(List.of())).start();
        advance(Duration.ofSeconds(1));

        assertThat(fixture.node().getSpec().getTaints())
                .extracting(Taint::getKey)
                .doesNotContain("podcache.dev/hollow");
    }

    @Test
    void podThatTheEmbedderRefuses_hasFailed_withItsReason() {
        fixture.agent(options -> options.admission(
                        pod -> Optional.of(new PodRejection("Unwanted", "this node runs no such pods"))))
                .start();
        advance(Duration.ofSeconds(1));
        fixture.server.cluster().create(Pods.assigned(AgentFixture.NODE, "web").build());
        advance(Duration.ofSeconds(2));

        PodStatus status =
                fixture.server.cluster().get(Pod.class, "shop", "web").getStatus();
        assertThat(status.getPhase()).isEqualTo("Failed");
        assertThat(status.getReason()).isEqualTo("Unwanted");
        assertThat(status.getMessage()).isEqualTo("Pod was rejected: this node runs no such pods");
    }

    @Test
    void options_ofTheBuilder_areWhatTheNodeSays() {
        NodeAgent agent = fixture.agent(options -> options.labels(Map.of("disk", "ssd"))
                .taints(List.of(new TaintBuilder()
                        .withKey("kind")
                        .withValue("edge")
                        .withEffect("NoSchedule")
                        .build()))
                .capacity(Map.of("cpu", new Quantity("1k"), "example.com/gpu", new Quantity("4")))
                .conditions(() -> List.of(new NodeConditionBuilder()
                        .withType("GpuHealthy")
                        .withStatus("True")
                        .withReason("AllGpusWork")
                        .build()))
                .images(() -> List.of(new NodeImage(List.of(), List.of("registry.example/app:1"), 17)))
                .maxPods(7));
        agent.start();
        advance(Duration.ofSeconds(1));

        Node node = fixture.node();
        assertThat(node.getMetadata().getLabels()).containsEntry("disk", "ssd");
        assertThat(node.getSpec().getTaints()).extracting(Taint::getKey).contains("kind");
        assertThat(node.getStatus().getCapacity())
                .containsEntry("cpu", new Quantity("1k"))
                .containsEntry("example.com/gpu", new Quantity("4"))
                .containsEntry("pods", new Quantity("7"));
        assertThat(node.getStatus().getAllocatable())
                .containsEntry("cpu", new Quantity("1k"))
                .containsEntry("example.com/gpu", new Quantity("4"));
        assertThat(node.getStatus().getConditions())
                .extracting(NodeCondition::getType)
                .containsExactly("MemoryPressure", "DiskPressure", "PIDPressure", "GpuHealthy", "Ready");
        assertThat(node.getStatus().getConditions().get(3).getLastTransitionTime())
                .isNotNull();
        assertThat(node.getStatus().getImages()).singleElement().satisfies(image -> {
            assertThat(image.getNames()).containsExactly("registry.example/app:1");
            assertThat(image.getSizeBytes()).isEqualTo(17);
        });
    }

    @Test
    void runtimeIsNotReady_nodeSaysSoAtOnce() {
        NotifyingRuntime runtime = new NotifyingRuntime(fixture.timekeeper);
        fixture.agent(options -> options.runtime(runtime)).start();
        advance(Duration.ofSeconds(15));
        assertThat(fixture.ready()).isEqualTo("True");

        runtime.status = RuntimeStatus.notReady("1", "no disk");
        runtime.events().healthChanged();
        advance(Duration.ofMillis(1));

        assertThat(fixture.ready()).isEqualTo("False");
    }

    @Test
    void runtimeDoesNotStartAtFirst_nodeIsNotReadyAndPodsWait(NoLeaks leaks) {
        leaks.allowWarnings("query of the container runtime's status failed");
        leaks.allowWarnings("the runtime failed to return the usage of its pods");
        fixture.createPods(1);
        NotifyingRuntime runtime = new NotifyingRuntime(fixture.timekeeper);
        runtime.failsToStart = true;
        fixture.agent(options -> options.runtime(runtime)).start();
        advance(Duration.ofSeconds(15));
        assertThat(fixture.ready()).isEqualTo("False");
        assertThat(fixture.pod("web-0").getStatus().getPhase()).isEqualTo("Pending");

        runtime.failsToStart = false;
        advance(Duration.ofSeconds(15));

        assertThat(fixture.ready()).isEqualTo("True");
        assertThat(fixture.pod("web-0").getStatus().getPhase()).isEqualTo("Running");
    }

    private static ApiServerException failure(FailureReason reason, int code) {
        return new ApiServerException(reason, code, null, "for the test", null);
    }
}
