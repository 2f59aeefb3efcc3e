package dev.podcache.kubelet.eviction;

import static dev.podcache.kubelet.eviction.MeasuredPods.container;
import static dev.podcache.kubelet.eviction.MeasuredPods.pod;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Upstream's TestGetContainerOOMScoreAdjust: the pod, the memory of the machine, the expected value. */
class OomScoreAdjustTest {

    @ParameterizedTest
    @CsvSource({
        "0, '', cpu=10, 4000000000, 999",
        "0, cpu=0, 'cpu=5m memory=10G', 8000000000, 999",
        "0, '', memory=0, 7230457451, 1000",
        "0, '', '', 4000000000, 1000",
        "0, 'cpu=5m memory=10G', 'cpu=5m memory=10G', 123456789, -997",
        "0, memory=4000000000, cpu=5m, 8000000000, 500",
        "0, 'cpu=5m memory=7999999999', cpu=5m, 8000000000, 3",
        "0, memory=16000000000, '', 8000000000, 3",
        "2000000000, '', '', 4000000000, -997",
        "0, memory=1Gi, '', 0, 999"
    })
    void of_container_isUpstreams(int priority, String requests, String limits, long capacity, int expected) {
        Pod pod = pod("web", priority, requests, limits);
        assertThat(OomScoreAdjust.of(pod, pod.getSpec().getContainers().get(0), capacity))
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
