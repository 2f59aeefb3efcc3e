package dev.podcache.kubelet.nodestatus;

import static dev.podcache.kubelet.nodestatus.NodeStatusFixture.NOW;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.ContainerImage;
import io.fabric8.kubernetes.api.model.ContainerImageBuilder;
import io.fabric8.kubernetes.api.model.NodeSpec;
import io.fabric8.kubernetes.api.model.NodeSystemInfo;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Upstream's TestVersionInfo and TestImages, and the event of cordoning. */
@ExtendWith(NoLeaks.class)
class SmallSettersTest {

    private final NodeStatusFixture status = new NodeStatusFixture();
    private final FakeHost host = new FakeHost();

    private void setVersions(Supplier<String> runtime) {
        new VersionInfoSetter(host, new NodeVersions("v1.34.2", "RuntimeType", runtime)).set(status.node, NOW);
    }

    @Test
    void versions_allKnown_areReported() {
        setVersions(() -> "RuntimeVersion");
        NodeSystemInfo info = status.node.getStatus().getNodeInfo();
        assertThat(info.getKernelVersion()).isEqualTo("KernelVersion");
        assertThat(info.getOsImage()).isEqualTo("ContainerOSVersion");
        assertThat(info.getContainerRuntimeVersion()).isEqualTo("RuntimeType://RuntimeVersion");
        assertThat(info.getKubeletVersion()).isEqualTo("v1.34.2");
        assertThat(info.getKubeProxyVersion()).isEmpty();
    }

    @Test
    void versions_theMachinesUnknown_leavesTheNodeAlone() {
        host.kernelVersion = Optional.empty();
        assertThatThrownBy(() -> setVersions(() -> "RuntimeVersion"))
                .hasMessageStartingWith("error getting version info: ");
        assertThat(status.node.getStatus().getNodeInfo()).isNull();
    }

    private static NodeImage image(String name, long size) {
        return new NodeImage(List.of(), List.of(name), size);
    }

    private List<ContainerImage> setImages(NodeImage... images) {
        new ImagesSetter(() -> List.of(images)).set(status.node, NOW);
        return status.node.getStatus().getImages();
    }

    @Test
    void images_more_areCutToFifty() {
        NodeImage[] images =
                IntStream.range(0, 60).mapToObj(i -> image("i" + i, i)).toArray(NodeImage[]::new);

        assertThat(setImages(images))
                .extracting(ContainerImage::getSizeBytes)
                .hasSize(50)
                .startsWith(59L, 58L)
                .endsWith(11L, 10L);
    }

    @Test
    void images_anyOrder_areReportedLargestFirst() {
        assertThat(setImages(image("c", 3), image("a", 1), image("d", 4), image("b", 2)))
                .extracting(ContainerImage::getSizeBytes)
                .containsExactly(4L, 3L, 2L, 1L);
    }

    @Test
    void images_ofOneSize_areInTheSameOrderWhateverTheirs() {
        List<ContainerImage> first = List.copyOf(setImages(image("a", 1), image("b", 1), image("c", 1)));

        assertThat(setImages(image("c", 1), image("a", 1), image("b", 1))).isEqualTo(first);
    }

    /** What the server sends back of such an image. */
    @Test
    void images_ofUnknownSize_haveNone() {
        assertThat(setImages(image("a", 0)))
                .containsExactly(new ContainerImageBuilder().withNames("a").build());
    }

    @Test
    void images_manyNames_areFiveAndDigestsComeFirst() {
        List<String> tags = IntStream.range(0, 6).mapToObj(i -> "tag" + i).toList();
        assertThat(setImages(new NodeImage(List.of("digest0", "digest1"), tags, 1)))
                .singleElement()
                .satisfies(image ->
                        assertThat(image.getNames()).containsExactly("digest0", "digest1", "tag0", "tag1", "tag2"));
    }

    @Test
    void images_theListFails_leavesNone() {
        setImages(image("old", 1));
        ImagesSetter failing = new ImagesSetter(() -> {
            throw new IllegalStateException("foo");
        });
        assertThatThrownBy(() -> failing.set(status.node, NOW)).hasMessage("error getting image list: foo");
        assertThat(status.node.getStatus().getImages()).isEmpty();
    }

    @Test
    void schedulable_cordonedAndUncordoned_isRecordedOnceEach() {
        SchedulableEvent setter = new SchedulableEvent(status.events);
        setter.set(status.node, NOW);
        status.node.setSpec(new NodeSpec());
        for (Boolean unschedulable : new Boolean[] {null, true, true, false, false}) {
            status.node.getSpec().setUnschedulable(unschedulable);
            setter.set(status.node, NOW);
        }
        assertThat(status.recorded.lines())
                .containsExactly(
                        "Normal NodeNotSchedulable Node test-kubelet-node status is now: NodeNotSchedulable",
                        "Normal NodeSchedulable Node test-kubelet-node status is now: NodeSchedulable");
    }
}
