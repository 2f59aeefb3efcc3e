package dev.podcache.controlplane.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.base.Splitter;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.node.NodeTtlSource;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ManualTimekeeper;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodConditionBuilder;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ApiClusterWritesTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

    private final FakeApiServer server = new FakeApiServer(new ManualTimekeeper());
    private final ClusterWrites writes =
            ClusterWrites.to(server.api(ObjectKind.NODE, TIMEOUT), server.api(ObjectKind.POD, TIMEOUT));

    @AfterEach
    void close() {
        server.close();
    }

    private Node create(Map<String, String> annotations) {
        Node node = new NodeBuilder()
                .withNewMetadata()
                .withName("a")
                .withAnnotations(annotations)
                .endMetadata()
                .build();
        server.cluster().create(node);
        return node();
    }

    private Node node() {
        return server.cluster().get(Node.class, "", "a");
    }

    private Pod createPod() {
        Pod pod = new PodBuilder(TestPods.on("a", "p"))
                .editMetadata()
                .withUid(null)
                .endMetadata()
                .build();
        server.cluster().create(pod);
        return pod();
    }

    private Pod pod() {
        return server.cluster().get(Pod.class, "shop", "p");
    }

    private static FailureReason failureOf(CompletableFuture<?> answer) {
        return answer.handle((value, thrown) -> ApiServerException.reasonOf(thrown))
                .join();
    }

    /** TestPatchNode: the patch has the one annotation only. */
    @ParameterizedTest(name = "{1} on a Node with [{0}]")
    @CsvSource({
        "'', 0",
        "'', 10",
        "other, 10",
        NodeTtlSource.ANNOTATION + ", 10",
        "other " + NodeTtlSource.ANNOTATION + ", 10"
    })
    void annotate_sendsOneAnnotation_andKeepsOthers(String existing, String value) {
        Map<String, String> annotations = new HashMap<>();
        Splitter.on(' ').omitEmptyStrings().split(existing).forEach(key -> annotations.put(key, "1"));
        create(annotations);

        writes.annotate("a", NodeTtlSource.ANNOTATION, value).join();

        assertThat(server.sent())
                .singleElement()
                .extracting(FakeApiServer.Sent::body)
                .isEqualTo("{\"metadata\":{\"annotations\":{\"node.alpha.kubernetes.io/ttl\":\"" + value + "\"}}}");
        annotations.put(NodeTtlSource.ANNOTATION, value);
        assertThat(node().getMetadata().getAnnotations()).isEqualTo(annotations);
    }

    @Test
    void conditions_areAddedOrReplacedByType_inTheirOrder() {
        create(Map.of());
        ObservedNode node = ObservedNode.of(node());
        Node first = writes.patchConditions(
                        node,
                        List.of(TestNodes.condition("Ready", "True", NOW), TestNodes.condition("Own", "True", NOW)))
                .join();

        Node second = writes.patchConditions(
                        ObservedNode.of(first),
                        List.of(
                                TestNodes.condition("Ready", "Unknown", NOW),
                                TestNodes.condition("MemoryPressure", "Unknown", NOW)))
                .join();

        assertThat(TestNodes.status(second, "Ready")).isEqualTo("Unknown");
        assertThat(TestNodes.status(second, "MemoryPressure")).isEqualTo("Unknown");
        assertThat(TestNodes.status(second, "Own")).isEqualTo("True");
        assertThat(second.getStatus().getConditions()).hasSize(3);
    }

    @Test
    void nodeHasChanged_isAConflict() {
        create(Map.of());
        ObservedNode before = ObservedNode.of(node());
        writes.annotate("a", "other", "1").join();

        assertThat(failureOf(writes.patchConditions(before, List.of(TestNodes.condition("Ready", "Unknown", NOW)))))
                .isEqualTo(FailureReason.CONFLICT);
        assertThat(failureOf(writes.patchTaints(before, List.of(TestNodes.taint("one", "NoExecute")))))
                .isEqualTo(FailureReason.CONFLICT);
    }

    @Test
    void taints_areReplaced_andRemoved() {
        create(Map.of());
        Node one = writes.patchTaints(ObservedNode.of(node()), List.of(TestNodes.taint("one", "NoExecute")))
                .join();
        assertThat(TestNodes.taints(one)).containsExactly("one:NoExecute");

        Node two = writes.patchTaints(ObservedNode.of(one), List.of(TestNodes.taint("two", "NoSchedule")))
                .join();
        assertThat(TestNodes.taints(two)).containsExactly("two:NoSchedule");

        Node none = writes.patchTaints(ObservedNode.of(two), List.of()).join();
        assertThat(TestNodes.taints(none)).isEmpty();
    }

    @Test
    void pod_getsACondition_andADeletionTimestamp() {
        ObservedPod pod = ObservedPod.of(createPod());

        writes.patchCondition(
                        pod,
                        new PodConditionBuilder()
                                .withType("Ready")
                                .withStatus("False")
                                .build())
                .join();
        writes.delete(pod).join();

        assertThat(TestPods.status(pod(), "Ready")).isEqualTo("False");
        assertThat(pod().getMetadata().getDeletionTimestamp()).isNotNull();
        assertThat(pod().getMetadata().getDeletionGracePeriodSeconds()).isEqualTo(30);
    }

    @Test
    void podWasReplaced_isAConflict() {
        createPod();
        ObservedPod other = ObservedPod.of(TestPods.on("a", "p"));

        assertThat(failureOf(writes.delete(other))).isEqualTo(FailureReason.CONFLICT);
        assertThat(failureOf(writes.patchCondition(
                        other, new PodConditionBuilder().withType("Ready").build())))
                .isEqualTo(FailureReason.CONFLICT);
    }

    @Test
    void nodeDoesNotExist_isNotFound() {
        assertThat(failureOf(writes.getNode("a"))).isEqualTo(FailureReason.NOT_FOUND);
        assertThat(failureOf(writes.annotate("a", "b", "c"))).isEqualTo(FailureReason.NOT_FOUND);
    }
}
