package dev.podcache.kubelet.eviction;

import static dev.podcache.kubelet.eviction.MeasuredPods.pod;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableSet;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Toleration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PodRejectionTest {

    private static final Pod GUARANTEED = pod("g", 0, "cpu=1 memory=1Gi", "cpu=1 memory=1Gi");
    private static final Pod BURSTABLE = pod("b", 0, "memory=1Gi", "");
    private static final Pod BEST_EFFORT = pod("be", 0, "", "");

    private static boolean admits(Pod pod, Set<PressureType> pressures) {
        return EvictionPolicy.rejection(pod, pressures).isEmpty();
    }

    /** Upstream's TestAdmitUnderNodeConditions. */
    @Test
    void rejection_underPressures_dependsOnTheQosClassUnderMemoryPressureAlone() {
        Set<PressureType> memory = Set.of(PressureType.MEMORY);
        Set<PressureType> both = Set.of(PressureType.MEMORY, PressureType.DISK);
        for (Pod pod : List.of(GUARANTEED, BURSTABLE, BEST_EFFORT)) {
            assertThat(admits(pod, Set.of())).isTrue();
            assertThat(admits(pod, memory)).isEqualTo(!pod.equals(BEST_EFFORT));
            assertThat(admits(pod, both)).isFalse();
            assertThat(admits(pod, Set.of(PressureType.PID))).isFalse();
        }
    }

    @Test
    void rejection_message_isUpstreams() {
        assertThat(EvictionPolicy.rejection(BEST_EFFORT, ImmutableSet.of(PressureType.MEMORY, PressureType.DISK)))
                .contains(new PodRejection("Evicted", "The node had condition: [MemoryPressure DiskPressure]. "));
    }

    @ParameterizedTest
    @CsvSource({
        "node.kubernetes.io/memory-pressure, Exists, , NoSchedule, true",
        "node.kubernetes.io/memory-pressure, Exists, , , true",
        ", Exists, , , true",
        "node.kubernetes.io/memory-pressure, Equal, , NoSchedule, true",
        "node.kubernetes.io/memory-pressure, Equal, yes, NoSchedule, false",
        "node.kubernetes.io/memory-pressure, Exists, , NoExecute, false",
        "node.kubernetes.io/disk-pressure, Exists, , NoSchedule, false"
    })
    void rejection_bestEffortPodWithAToleration_isAdmittedIfItToleratesTheTaint(
            String key, String operator, String value, String effect, boolean expected) {
        Pod pod = pod("tolerant", 0, "", "");
        pod.getSpec().setTolerations(List.of(new Toleration(effect, key, operator, null, value)));
        assertThat(admits(pod, Set.of(PressureType.MEMORY))).isEqualTo(expected);
        assertThat(admits(pod, Set.of(PressureType.DISK))).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "kubernetes.io/config.source, file, 0, true",
        "kubernetes.io/config.source, api, 0, false",
        "kubernetes.io/config.mirror, abc, 0, true",
        "other, abc, 2000000000, true",
        "other, abc, 1999999999, false"
    })
    void rejection_criticalPod_isAdmittedUnderAnyPressure(
            String annotation, String value, int priority, boolean expected) {
        Pod pod = pod("critical", priority, "", "");
        pod.getMetadata().setAnnotations(Map.of(annotation, value));
        assertThat(admits(pod, Set.of(PressureType.DISK, PressureType.PID))).isEqualTo(expected);
    }
}
