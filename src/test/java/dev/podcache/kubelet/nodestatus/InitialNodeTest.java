package dev.podcache.kubelet.nodestatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.TaintBuilder;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class InitialNodeTest {

    @Test
    void toNode_nothingConfigured_hasThePlatformsLabelsAndTheAnnotation() {
        Node node = Nodes.initial().build().toNode();

        assertThat(node.getMetadata().getName()).isEqualTo("worker-1");
        assertThat(node.getMetadata().getLabels())
                .containsExactlyInAnyOrderEntriesOf(Map.of(
                        "kubernetes.io/hostname", "worker-1",
                        "kubernetes.io/os", "linux",
                        "kubernetes.io/arch", "amd64",
                        "beta.kubernetes.io/os", "linux",
                        "beta.kubernetes.io/arch", "amd64"));
        assertThat(node.getMetadata().getAnnotations())
                .containsExactlyInAnyOrderEntriesOf(
                        Map.of("volumes.kubernetes.io/controller-managed-attach-detach", "true"));
        assertThat(node.getSpec().getTaints()).isEmpty();
        assertThat(node.getSpec().getProviderID()).isNull();
        assertThat(node.getStatus()).isNotNull();
    }

    @Test
    void toNode_configuredLabels_overrideThePlatforms() {
        Node node = Nodes.initial()
                .labels(Map.of("kubernetes.io/arch", "riscv64", "disk", "ssd"))
                .build()
                .toNode();

        assertThat(node.getMetadata().getLabels())
                .containsEntry("kubernetes.io/hostname", "worker-1")
                .containsEntry("kubernetes.io/arch", "riscv64")
                .containsEntry("beta.kubernetes.io/arch", "amd64")
                .containsEntry("disk", "ssd");
    }

    @Test
    void toNode_taints_areInOrder() {
        Node node = Nodes.initial()
                .taints(NodeTaints.parse("b=1:NoSchedule,a:NoExecute"))
                .providerId("cloud:///1")
                .build()
                .toNode();

        assertThat(node.getSpec().getTaints())
                .extracting(Taint::getKey, Taint::getValue, Taint::getEffect)
                .containsExactly(tuple("b", "1", "NoSchedule"), tuple("a", null, "NoExecute"));
        assertThat(node.getSpec().getProviderID()).isEqualTo("cloud:///1");
    }

    @Test
    void toNode_changedByTheCaller_nextIsAsBefore() {
        Taint taint = new TaintBuilder().withKey("a").withEffect("NoSchedule").build();
        InitialNode initial = Nodes.initial().taints(List.of(taint)).build();
        taint.setKey("b");
        Node first = initial.toNode();
        first.getMetadata().getLabels().clear();
        first.getSpec().getTaints().get(0).setKey("c");

        assertThat(initial.toNode().getMetadata().getLabels()).hasSize(5);
        assertThat(initial.toNode().getSpec().getTaints().get(0).getKey()).isEqualTo("a");
    }

    @Test
    void builder_illegalInput_isRefusedByName() {
        assertThatThrownBy(() -> InitialNode.builder("Worker_1", "linux", "amd64"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("node name \"Worker_1\"");
        assertThatThrownBy(() -> InitialNode.builder("worker-1", "lin ux", "amd64"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("operating system \"lin ux\"");
        assertThatThrownBy(() -> Nodes.initial().labels(Map.of("kubernetes.io/role", "x")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("kubernetes.io/role");
        assertThatThrownBy(() -> Nodes.initial().taints(List.of(new Taint())))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("taint key \"\"");
    }
}
