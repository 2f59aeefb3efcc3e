package dev.podcache.kubelet.eviction;

import static dev.podcache.kubelet.eviction.MeasuredPods.LOW;
import static dev.podcache.kubelet.eviction.MeasuredPods.NORMAL;
import static dev.podcache.kubelet.eviction.MeasuredPods.bytes;
import static dev.podcache.kubelet.eviction.MeasuredPods.container;
import static dev.podcache.kubelet.eviction.MeasuredPods.pod;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.base.Splitter;
import dev.podcache.kubelet.eviction.MeasuredPods.ContainerUse;
import dev.podcache.kubelet.runtime.ContainerStatistics.PodUsage;
import dev.podcache.pod.PodReferences;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Upstream's VerifyPodStatus functions of eviction_manager_test.go: the messages, to the letter. */
@ExtendWith(NoLeaks.class)
class EvictionMessagesTest {

    private static EvictionOptions hard(EvictionSignal signal, String value) {
        return EvictionOptions.defaults().withHard(EvictionThresholds.parse(Map.of(signal.toString(), value)));
    }

    private static void addDisk(ManagerFixture node, String name, String limit, String used) {
        Pod pod = pod(name, NORMAL, "ephemeral-storage=" + limit, "");
        node.add(pod, MeasuredPods.disk(pod, used, "", ""));
    }

    /** TestMemoryPressure_VerifyPodStatus: its containers have no figures of their own; here the pod is their sum. */
    @Test
    void memory_message_hasThresholdAndWhatWasAvailable() throws InterruptedException {
        try (ManagerFixture node = new ManagerFixture(hard(EvictionSignal.MEMORY_AVAILABLE, "2Gi"))) {
            Pod below = pod("below-requests", NORMAL, "memory=1Gi", "memory=1Gi");
            node.add(below, MeasuredPods.memory(below, "900Mi"));
            Pod above = pod("above-requests", NORMAL, "memory=100Mi", "memory=1Gi");
            node.add(above, MeasuredPods.memory(above, "700Mi"));
            assertThat(node.set(EvictionSignal.MEMORY_AVAILABLE, "1500Mi").sync())
                    .containsExactly("above-requests");
            Eviction eviction = node.evicted.get(0);
            assertThat(eviction.message())
                    .isEqualTo(
                            "The node was low on resource: memory. Threshold quantity: 2Gi, available: 1500Mi. "
                                    + "Container above-requests was using 700Mi, request is 100Mi, has larger consumption of memory. ");
            assertThat(eviction.forPressure()).isTrue();
            assertThat(eviction.annotations())
                    .isEqualTo(Map.of(
                            "offending_containers", "above-requests",
                            "offending_containers_usage", "700Mi",
                            "starved_resource", "memory"));
            assertThat(node.events.lines())
                    .containsExactly(
                            "Warning EvictionThresholdMet Attempting to reclaim memory",
                            "Warning Evicted " + eviction.message());
        }
    }

    /** TestPIDPressure_VerifyPodStatus. */
    @Test
    void pids_message_hasThresholdAndWhatWasAvailable() throws InterruptedException {
        try (ManagerFixture node = new ManagerFixture(hard(EvictionSignal.PID_AVAILABLE, "1200"))) {
            Pod first = pod("pod1", LOW, "", "");
            node.add(first, MeasuredPods.processes(first, 2));
            Pod second = pod("pod2", NORMAL, "", "");
            node.add(second, MeasuredPods.processes(second, 2));
            assertThat(node.set(EvictionSignal.PID_AVAILABLE, 1500, 500).sync()).containsExactly("pod1");
            assertThat(node.evicted.get(0).message())
                    .isEqualTo("The node was low on resource: pids. Threshold quantity: 1200, available: 500. ");
        }
    }

    /** TestDiskPressureNodeFs_VerifyPodStatus. */
    @ParameterizedTest
    @CsvSource({
        "SHARED, NODE_FS_AVAILABLE, 2Gi, 1536Mi, 100Mi, 700Mi",
        "OWN_IMAGES, IMAGE_FS_AVAILABLE, 50Gi, 10Gi, 50Gi, 80Gi",
        "SPLIT, NODE_FS_AVAILABLE, 50Gi, 10Gi, 50Gi, 80Gi"
    })
    void disk_message_hasTheContainerThatUsesMoreThanItRequests(
            StorageLayout layout,
            EvictionSignal signal,
            String threshold,
            String available,
            String request,
            String used)
            throws InterruptedException {
        try (ManagerFixture node = new ManagerFixture(hard(signal, threshold))) {
            node.layout = layout;
            addDisk(node, "below-requests", "1Gi", "900Mi");
            addDisk(node, "above-requests", request, used);
            assertThat(node.set(signal, available).sync()).containsExactly("above-requests");
            assertThat(node.evicted.get(0).message())
                    .isEqualTo("The node was low on resource: ephemeral-storage. Threshold quantity: " + threshold
                            + ", available: " + available + ". Container above-requests was using " + used
                            + ", request is " + request + ", has larger consumption of ephemeral-storage. ");
        }
    }

    /**
     * TestEvictionMessageWithInitContainers: what init containers, sidecars with a star among them, and regular
     * containers request; what was measured, in that order; who used more than requested.
     */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "init=300Mi sidecar*=200Mi | main=200Mi | sidecar=150Mi main=100Mi | ''",
                "init=300Mi | main=200Mi | init=350Mi main=200Mi | init=300Mi",
                "sidecar*=200Mi | main=200Mi | sidecar=250Mi main=200Mi | sidecar=200Mi",
                "sidecar*=200Mi | main=200Mi | sidecar=200Mi main=250Mi | main=200Mi",
                "init= | main= | init=350Mi main=200Mi | init=0 main=0",
                "sidecar*= | main= | sidecar=250Mi main=200Mi | sidecar=0 main=0",
                "init= sidecar*= | main= | init=350Mi sidecar=250Mi main=200Mi | init=0 sidecar=0 main=0",
                "s1*=100Mi i1=400Mi s2*=200Mi i2=500Mi s3*=300Mi i3=600Mi | m1=300Mi m2=200Mi m3=100Mi"
                        + " | i1=450Mi i2=350Mi i3=350Mi s1=150Mi s2=250Mi s3=250Mi m1=50Mi m2=250Mi m3=400Mi"
                        + " | i1=400Mi s1=100Mi s2=200Mi m2=200Mi m3=100Mi"
            })
    void memory_message_hasAllContainersThatUseMoreThanTheyRequest(
            String init, String regular, String measured, String expected) {
        Pod pod = pod("web", NORMAL, "", "");
        pod.getSpec().setInitContainers(containers(init));
        pod.getSpec().setContainers(containers(regular));
        Map<String, String> used = amounts(measured);
        PodUsage usage = new PodUsage(
                PodReferences.key(pod),
                used.entrySet().stream()
                        .map(each -> container(each.getKey(), new ContainerUse(bytes(each.getValue()), 0, 0, 0, 0)))
                        .toList());

        EvictionMessage.Explained explained = EvictionMessage.of(
                "memory", pod, List.of(), Measurement.of(Map.of(), List.of(usage), StorageLayout.SHARED));

        Map<String, String> offending = amounts(expected);
        assertThat(explained.message())
                .isEqualTo(offending.keySet().stream()
                        .map(name -> "Container " + name + " was using " + used.get(name) + ", request is "
                                + offending.get(name) + ", has larger consumption of memory. ")
                        .collect(Collectors.joining("", "The node was low on resource: memory. ", "")));
        assertThat(explained.annotations())
                .isEqualTo(Map.of(
                        "offending_containers", String.join(",", offending.keySet()),
                        "offending_containers_usage",
                                offending.keySet().stream().map(used::get).collect(Collectors.joining(",")),
                        "starved_resource", "memory"));
    }

    private static Map<String, String> amounts(String text) {
        return Splitter.on(' ').omitEmptyStrings().withKeyValueSeparator('=').split(text);
    }

    private static List<Container> containers(String requests) {
        return amounts(requests).entrySet().stream()
                .map(each -> {
                    String name = each.getKey().replace("*", "");
                    Container container =
                            container(name, each.getValue().isEmpty() ? "" : "memory=" + each.getValue(), "");
                    container.setRestartPolicy(name.equals(each.getKey()) ? null : "Always");
                    return container;
                })
                .toList();
    }

    @Test
    void percentage_message_hasItsAmount() throws InterruptedException {
        try (ManagerFixture node = new ManagerFixture(hard(EvictionSignal.NODE_FS_AVAILABLE, "25%"))) {
            addDisk(node, "web", "1Gi", "1Mi");
            node.set(EvictionSignal.NODE_FS_AVAILABLE, 8L << 30, 1L << 30).sync();
            assertThat(node.evicted.get(0).message())
                    .isEqualTo("The node was low on resource: ephemeral-storage. "
                            + "Threshold quantity: 2Gi, available: 1Gi. ");
        }
    }

    @Test
    void unmeasuredPod_message_hasNoContainersAndTheEventNoAnnotations() throws InterruptedException {
        try (ManagerFixture node = new ManagerFixture(hard(EvictionSignal.MEMORY_AVAILABLE, "2Gi"))) {
            node.pods.add(pod("unknown", NORMAL, "", ""));
            node.set(EvictionSignal.MEMORY_AVAILABLE, "1Gi").sync();
            assertThat(node.evicted.get(0).annotations()).isEmpty();
            assertThat(node.evicted.get(0).message())
                    .isEqualTo("The node was low on resource: memory. Threshold quantity: 2Gi, available: 1Gi. ");
        }
    }
}
