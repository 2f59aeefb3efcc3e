package dev.podcache.kubelet.eviction;

import static dev.podcache.kubelet.eviction.MeasuredPods.HIGH;
import static dev.podcache.kubelet.eviction.MeasuredPods.LOW;
import static dev.podcache.kubelet.eviction.MeasuredPods.NORMAL;
import static dev.podcache.kubelet.eviction.MeasuredPods.pod;
import static dev.podcache.kubelet.eviction.MeasuredPods.withLocalVolume;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.Lists;
import dev.podcache.kubelet.runtime.ContainerStatistics.PodUsage;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Upstream's TestOrderedBy functions of helpers_test.go. The pods are added in the order that is expected. */
class EvictionRankingTest {

    private final List<Pod> expected = new ArrayList<>();
    private final List<PodUsage> usage = new ArrayList<>();

    private void add(Pod pod, PodUsage used) {
        expected.add(pod);
        usage.add(used);
    }

    private void addMemory(String name, int priority, String requests, String workingSet) {
        Pod pod = pod(name, priority, requests, "");
        add(pod, MeasuredPods.memory(pod, workingSet));
    }

    private void addDisk(String name, int priority, String requests, String root, String logs, String volume) {
        Pod pod = withLocalVolume(pod(name, priority, requests, ""), "", "");
        add(pod, MeasuredPods.disk(pod, root, logs, volume));
    }

    private void addInodes(String name, int priority, String root, String logs, String volume) {
        Pod pod = withLocalVolume(pod(name, priority, "", ""), "", "");
        add(pod, MeasuredPods.inodes(pod, root, logs, volume));
    }

    private void addProcesses(String name, int priority, long count) {
        Pod pod = pod(name, priority, "", "");
        add(pod, MeasuredPods.processes(pod, count));
    }

    private static void setWholeRequest(Pod pod, String request) {
        pod.getSpec().setResources(MeasuredPods.container("", request, "").getResources());
    }

    private void assertRanked(EvictionSignal signal) {
        assertRanked(signal, StorageLayout.SHARED);
    }

    private void assertRanked(EvictionSignal signal, StorageLayout layout) {
        Measurement measurement = Measurement.of(Map.of(), usage, layout);
        assertThat(EvictionRanking.ranked(Lists.reverse(expected), signal, measurement))
                .extracting(pod -> pod.getMetadata().getName())
                .containsExactlyElementsOf(expected.stream()
                        .map(pod -> pod.getMetadata().getName())
                        .toList());
    }

    /** TestOrderedByExceedsRequestMemory, TestOrderedByExceedsRequestDisk. */
    @Test
    void ranked_onePodExceedsItsRequestByLittle_isFirstWhateverItsPriority() {
        addMemory("exceeds", HIGH, "memory=100Mi", "101Mi");
        addMemory("below", LOW, "memory=200Mi", "199Mi");
        assertRanked(EvictionSignal.MEMORY_AVAILABLE);
        expected.clear();
        usage.clear();
        addDisk("exceeds", HIGH, "ephemeral-storage=100Mi", "90Mi", "11Mi", "0");
        addDisk("below", LOW, "ephemeral-storage=200Mi", "100Mi", "99Mi", "0");
        assertRanked(EvictionSignal.NODE_FS_AVAILABLE);
    }

    @Test
    void ranked_requestOfTheWholePod_countsInsteadOfItsContainers() {
        addMemory("high", NORMAL, "memory=300Mi", "400Mi");
        addMemory("low", NORMAL, "memory=100Mi", "400Mi");
        setWholeRequest(expected.get(0), "memory=200Mi");
        setWholeRequest(expected.get(1), "memory=350Mi");
        assertRanked(EvictionSignal.MEMORY_AVAILABLE);
    }

    /** TestOrderedByPriority. */
    @ParameterizedTest
    @EnumSource(EvictionSignal.class)
    void ranked_noFigures_isByPriority(EvictionSignal signal) {
        expected.add(pod("low", -134, "", ""));
        expected.add(pod("medium", 1, "cpu=100m memory=100Mi", "cpu=200m memory=200Mi"));
        expected.add(pod("high", 12534, "cpu=200m memory=200Mi", "cpu=200m memory=200Mi"));
        assertRanked(signal);
    }

    /** TestOrderedByMemory. */
    @Test
    void ranked_memoryOfOnePriority_isByExcess() {
        addMemory("burstable-high", NORMAL, "memory=100Mi", "800Mi");
        addMemory("best-effort-high", NORMAL, "", "500Mi");
        addMemory("best-effort-low", NORMAL, "", "300Mi");
        addMemory("burstable-low", NORMAL, "memory=100Mi", "300Mi");
        addMemory("guaranteed-high", NORMAL, "memory=1Gi", "800Mi");
        addMemory("guaranteed-low", NORMAL, "memory=1Gi", "200Mi");
        assertRanked(EvictionSignal.MEMORY_AVAILABLE);
    }

    /** TestOrderedByPriorityMemory. */
    @Test
    void ranked_memory_isByExceedingThenByPriorityThenByExcess() {
        addMemory("above-low-high", LOW, "", "500Mi");
        addMemory("above-low-low", LOW, "", "50Mi");
        addMemory("above-high-high", HIGH, "memory=100Mi", "600Mi");
        addMemory("above-high-low", HIGH, "memory=100Mi", "150Mi");
        addMemory("below-low-high", LOW, "memory=1Gi", "800Mi");
        addMemory("below-low-low", LOW, "memory=1Gi", "200Mi");
        addMemory("below-high-high", HIGH, "memory=1Gi", "800Mi");
        addMemory("below-high-low", HIGH, "memory=1Gi", "200Mi");
        assertRanked(EvictionSignal.ALLOCATABLE_MEMORY_AVAILABLE);
    }

    /** TestOrderedbyDisk. */
    @Test
    void ranked_diskOfOnePriority_isByExcess() {
        addDisk("best-effort-high", NORMAL, "", "50Mi", "100Mi", "350Mi");
        addDisk("burstable-high", NORMAL, "ephemeral-storage=100Mi", "200Mi", "150Mi", "150Mi");
        addDisk("best-effort-low", NORMAL, "", "50Mi", "50Mi", "200Mi");
        addDisk("burstable-low", NORMAL, "ephemeral-storage=100Mi", "100Mi", "150Mi", "50Mi");
        addDisk("guaranteed-high", NORMAL, "ephemeral-storage=400Mi", "225Mi", "100Mi", "50Mi");
        addDisk("guaranteed-low", NORMAL, "ephemeral-storage=400Mi", "25Mi", "45Mi", "50Mi");
        assertRanked(EvictionSignal.NODE_FS_AVAILABLE);
    }

    /** TestOrderedByPriorityDisk. */
    @Test
    void ranked_disk_isByExceedingThenByPriorityThenByExcess() {
        addDisk("above-low-high", LOW, "", "200Mi", "100Mi", "200Mi");
        addDisk("above-low-low", LOW, "", "10Mi", "10Mi", "30Mi");
        addDisk("above-high-high", HIGH, "ephemeral-storage=100Mi", "200Mi", "150Mi", "250Mi");
        addDisk("above-high-low", HIGH, "ephemeral-storage=100Mi", "90Mi", "50Mi", "10Mi");
        addDisk("below-low-high", LOW, "ephemeral-storage=1Gi", "500Mi", "200Mi", "100Mi");
        addDisk("below-low-low", LOW, "ephemeral-storage=1Gi", "50Mi", "100Mi", "50Mi");
        addDisk("below-high-high", HIGH, "ephemeral-storage=1Gi", "250Mi", "500Mi", "50Mi");
        addDisk("below-high-low", HIGH, "ephemeral-storage=1Gi", "100Mi", "60Mi", "40Mi");
        assertRanked(EvictionSignal.IMAGE_FS_AVAILABLE);
    }

    /** TestOrderedbyInodes. */
    @Test
    void ranked_inodesOfOnePriority_isByTheirNumber() {
        addInodes("high", NORMAL, "200000", "150000", "50000");
        addInodes("medium", NORMAL, "100000", "150000", "50000");
        addInodes("low", NORMAL, "50000", "100000", "50000");
        assertRanked(EvictionSignal.NODE_FS_INODES_FREE);
    }

    /** TestOrderedByPriorityInodes. */
    @Test
    void ranked_inodes_isByPriorityThenByTheirNumber() {
        addInodes("low-high", LOW, "50000", "100000", "250000");
        addInodes("low-low", LOW, "60000", "30000", "10000");
        addInodes("high-high", HIGH, "150000", "150000", "50000");
        addInodes("high-low", HIGH, "10000", "40000", "100000");
        assertRanked(EvictionSignal.IMAGE_FS_INODES_FREE);
    }

    /** TestOrderedByPriorityProcess. */
    @Test
    void ranked_processes_isByPriorityThenByTheirNumber() {
        addProcesses("low-high", LOW, 20);
        addProcesses("low-low", LOW, 6);
        addProcesses("high-high", HIGH, 20);
        addProcesses("high-low", HIGH, 5);
        assertRanked(EvictionSignal.PID_AVAILABLE);
    }

    @Test
    void ranked_ownImageFileSystem_onlyWritableFilesCountThere() {
        addDisk("files", NORMAL, "", "20Mi", "", "");
        addDisk("logs", NORMAL, "", "10Mi", "100Mi", "100Mi");
        assertRanked(EvictionSignal.IMAGE_FS_AVAILABLE, StorageLayout.OWN_IMAGES);
    }

    @Test
    void ranked_ownImageFileSystem_onlyLogsAndVolumesCountOnTheNodes() {
        addDisk("logs", NORMAL, "", "", "20Mi", "");
        addDisk("files", NORMAL, "", "100Mi", "10Mi", "5Mi");
        assertRanked(EvictionSignal.NODE_FS_AVAILABLE, StorageLayout.OWN_IMAGES);
    }

    @Test
    void ranked_podWithoutFigures_isFirstWhateverItsPriority() {
        expected.add(pod("unknown", HIGH, "memory=1Gi", ""));
        addMemory("known", LOW, "", "500Mi");
        assertRanked(EvictionSignal.MEMORY_AVAILABLE);
    }
}
