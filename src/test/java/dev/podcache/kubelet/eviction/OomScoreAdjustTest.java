package dev.podcache.kubelet.eviction;

import static dev.podcache.kubelet.eviction.MeasuredPods.container;
import static dev.podcache.kubelet.eviction.MeasuredPods.pod;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.base.Splitter;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Upstream's TestGetContainerOOMScoreAdjust, and TestGetContainerOOMScoreAdjustTieBreak with its gate off, without the
 * rows of dynamic resource allocation.
 */
class OomScoreAdjustTest {

    /** Requests and limits of the only container, the memory of the machine, the expected value. */
    @ParameterizedTest
    @CsvSource({
        "'', cpu=10, 4000000000, 999",
        "cpu=0, 'cpu=5m memory=10G', 8000000000, 999",
        "cpu=0, memory=10G, 8000000000, 999",
        "'', memory=0, 7230457451, 1000",
        "'', '', 4000000000, 1000",
        "'cpu=5m memory=10G', 'cpu=5m memory=10G', 123456789, -997",
        "memory=4000000000, cpu=5m, 8000000000, 500",
        "'cpu=5m memory=4000000000', memory=10G, 8000000000, 500",
        "'cpu=5m memory=7999999999', '', 8000000000, 3",
        "memory=16000000000, '', 8000000000, 3",
        "memory=1Gi, '', 0, 999",
        "memory=-1, '', 8000000000, 1000",
        "memory=-9223372036854775807, '', 1, 1000",
        "memory=-1e99999999, '', 8000000000, 1000",
        "memory=9223372036854775807, '', 1, 3",
        "memory=1e99999999, '', 8000000000, 3",
        "memory=500Mi, '', 4000000000, 869",
        "memory=500Mi, '', 17179869184, 970",
        "memory=500Mi, memory=500Mi, 17179869184, 970",
        "memory=50Mi, '', 1099511627776, 999",
        "memory=500Mi, '', 1099511627776, 999",
        "memory=500Mi, memory=500Mi, 1099511627776, 999",
        "memory=4Gi, '', 1099511627776, 997",
        "memory=16Gi, '', 1099511627776, 985",
        "memory=500Mi, '', 4398046511104, 999",
        "memory=64Gi, '', 4398046511104, 985"
    })
    void of_container_isUpstreams(String requests, String limits, long capacity, int expected) {
        Pod pod = pod("web", 0, requests, limits);
        assertThat(OomScoreAdjust.of(pod, pod.getSpec().getContainers().get(0), capacity))
                .isEqualTo(expected);
    }

    /**
     * What the whole pod requests and its limits, what its regular containers, init containers and sidecars request of
     * memory, the memory of the machine, the expected values in this order.
     */
    @ParameterizedTest
    @CsvSource({
        "'', 1000000000, '', '', 8000000000, 875",
        "'', 1000000000, 1000000000, '', 8000000000, 875 875",
        "'', 1000000000, 1000000000, 400000000, 8000000000, 875 875 875",
        "'', 1000000000, 1000000000, 1000000000, 8000000000, 875 875 875",
        "'', 1000000000, 1000000000, 4000000000, 8000000000, 875 875 500",
        "'', 50Mi 16Gi, '', 50Mi, 1099511627776, 999 985 999",
        "cpu=5m memory=2000000000/cpu=5m memory=2000000000, 0 0, '', '', 4000000000, -997 -997",
        "cpu=5m memory=2000000000/cpu=5m memory=2000000000, 1000000000 1000000000, '', '', 4000000000, -997 -997",
        "cpu=5m memory=2000000000/cpu=5m memory=2000000000, 1000000000 0, '', '', 4000000000, -997 -997",
        "cpu=5m memory=2000000000/cpu=5m memory=2000001000, 0 0, '', '', 4000000000, 750 750",
        "cpu=5m memory=2000000000/cpu=5m memory=2000001000, 1000000000 1000000000, '', '', 4000000000, 750 750",
        "cpu=5m memory=2000000000/cpu=5m memory=2000001000, 1000000000 0, '', '', 4000000000, 625 875",
        "cpu=5m memory=2000000000/cpu=5m memory=2000001000, 0, '', 0, 4000000000, 750 750",
        "cpu=5m memory=2000000000/cpu=5m memory=2000001000, 1000000000, '', 1000000000, 4000000000, 750 750",
        "cpu=5m memory=2000000000/cpu=5m memory=2000001000, 1000000000 500000000, '', 200000000, 4000000000, 725 850 850",
        "memory=2Gi/memory=4Gi, 0, '', '', 1099511627776, 999",
        "memory=2Gi/memory=2Gi, 0, '', '', 1099511627776, 999",
        "memory=0/cpu=5m, 1000000000, '', '', 4000000000, 750",
        "memory=1000000000/cpu=5m, 2000000000 0, '', '', 4000000000, 500 999"
    })
    void of_eachContainer_isUpstreams(
            String wholePod, String regular, String init, String sidecars, long capacity, String expected) {
        Pod pod = pod("web", 0, "", "");
        pod.getSpec().setContainers(containers(regular).toList());
        pod.getSpec()
                .setInitContainers(Stream.concat(
                                containers(init),
                                containers(sidecars).peek(container -> container.setRestartPolicy("Always")))
                        .toList());
        if (!wholePod.isEmpty()) {
            List<String> both = Splitter.on('/').splitToList(wholePod);
            pod.getSpec().setResources(container("", both.get(0), both.get(1)).getResources());
        }
        assertThat(Stream.concat(pod.getSpec().getContainers().stream(), pod.getSpec().getInitContainers().stream())
                        .map(container -> Integer.toString(OomScoreAdjust.of(pod, container, capacity)))
                        .collect(Collectors.joining(" ")))
                .isEqualTo(expected);
    }

    private static Stream<Container> containers(String requests) {
        return Splitter.on(' ')
                .omitEmptyStrings()
                .splitToStream(requests)
                .map(request -> container("c", request.equals("0") ? "" : "memory=" + request, ""));
    }

    /** In 1.20, all critical pods had the lowest value. */
    @ParameterizedTest
    @CsvSource({"2000000000, system-cluster-critical, 1000", "2000001000, system-node-critical, -997"})
    void of_criticalPod_isTheLowestOnlyIfTheNodeNeedsIt(int priority, String priorityClass, int expected) {
        Pod pod = pod("web", priority, "", "");
        pod.getSpec().setPriorityClassName(priorityClass);
        assertThat(OomScoreAdjust.of(pod, pod.getSpec().getContainers().get(0), 4_000_000_000L))
                .isEqualTo(expected);
    }

    @Test
    void of_sidecar_isNotAboveTheContainersThatItServes() {
        Pod pod = pod("web", 0, "memory=2000000000", "");
        Container sidecar = container("proxy", "memory=1000000000", "");
        sidecar.setRestartPolicy("Always");
        pod.getSpec().setInitContainers(List.of(sidecar));
        assertThat(OomScoreAdjust.of(pod, sidecar, 8_000_000_000L)).isEqualTo(750);
        Container init = container("setup", "memory=1000000000", "");
        pod.getSpec().setInitContainers(List.of(init));
        assertThat(OomScoreAdjust.of(pod, init, 8_000_000_000L)).isEqualTo(875);
    }
}
