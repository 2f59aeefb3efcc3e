package dev.podcache.kubelet.eviction;

import static dev.podcache.kubelet.eviction.MeasuredPods.HIGH;
import static dev.podcache.kubelet.eviction.MeasuredPods.LOW;
import static dev.podcache.kubelet.eviction.MeasuredPods.NORMAL;
import static dev.podcache.kubelet.eviction.MeasuredPods.pod;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The scenarios of upstream's eviction_manager_test.go: pressure comes and goes. Each run is one {@code synchronize}.
 */
@ExtendWith(NoLeaks.class)
class EvictionScenariosTest {

    private static final Duration MINUTE = Duration.ofMinutes(1);

    private static EvictionThresholds thresholds(EvictionSignal signal, String value) {
        return EvictionThresholds.parse(Map.of(signal.toString(), value));
    }

    /** A hard threshold, a soft one for two minutes, five seconds for a pod, and five minutes of transition. */
    private static EvictionOptions hardAndSoft(EvictionSignal signal, String hard, String soft) {
        return EvictionOptions.defaults()
                .withHard(thresholds(signal, hard))
                .withSoft(thresholds(signal, soft), Map.of(signal.toString(), MINUTE.multipliedBy(2)))
                .withMaxPodGracePeriod(Duration.ofSeconds(5));
    }

    private static void addMemoryPods(ManagerFixture node) {
        addMemory(node, "guaranteed-low-priority-high-usage", LOW, "cpu=100m memory=1Gi", "900Mi");
        addMemory(node, "burstable-below-requests", NORMAL, "cpu=100m memory=100Mi", "50Mi");
        addMemory(node, "burstable-above-requests", NORMAL, "cpu=100m memory=100Mi", "400Mi");
        addMemory(node, "best-effort-high-priority-high-usage", HIGH, "", "400Mi");
        addMemory(node, "best-effort-low-priority-low-usage", LOW, "", "100Mi");
    }

    private static void addMemory(ManagerFixture node, String name, int priority, String requests, String workingSet) {
        Pod pod = pod(name, priority, requests, "");
        node.add(pod, MeasuredPods.memory(pod, workingSet));
    }

    private static void addDisk(ManagerFixture node, String name, int priority, String root, String logs) {
        Pod pod = pod(name, priority, "", "");
        node.add(pod, MeasuredPods.disk(pod, root, logs, "400Mi"));
    }

    private static void addDiskPods(ManagerFixture node) {
        addDisk(node, "low-priority-high-usage", LOW, "900Mi", "");
        addDisk(node, "below-requests", NORMAL, "", "50Mi");
        addDisk(node, "above-requests", NORMAL, "400Mi", "");
        addDisk(node, "high-priority-high-usage", HIGH, "", "");
        addDisk(node, "low-priority-low-usage", LOW, "100Mi", "");
    }

    private static Pod bestEffort() {
        return pod("best-admit", NORMAL, "", "");
    }

    private static Pod burstable() {
        return pod("burst-admit", NORMAL, "cpu=100m memory=100Mi", "cpu=200m memory=200Mi");
    }

    /** What a scenario induces on a signal: no pressure, between the thresholds, below both. */
    private record Levels(EvictionSignal induced, String free, String soft, String hard) {}

    /** The common course of TestMemoryPressure, TestPIDPressure, TestDiskPressureNodeFs, TestInodePressureFsInodes. */
    private static void softThenHard(ManagerFixture node, Levels levels, String first) throws InterruptedException {
        long capacity = 2 * MeasuredPods.bytes(levels.free);
        PressureType pressure = levels.induced.pressure();
        assertThat(node.set(levels.induced, capacity, MeasuredPods.bytes(levels.free))
                        .sync())
                .isEmpty();
        assertThat(node.manager.isUnder(pressure)).isFalse();
        assertAdmits(node, true, true);

        node.set(levels.induced, capacity, MeasuredPods.bytes(levels.soft));
        assertThat(node.syncAfter(MINUTE)).isEmpty();
        assertThat(node.manager.isUnder(pressure)).isTrue();
        assertThat(node.syncAfter(MINUTE.multipliedBy(3))).containsExactly(first);
        assertThat(node.evicted.get(0).gracePeriod()).isEqualTo(Duration.ofSeconds(5));
        assertThat(node.manager.isUnder(pressure)).isTrue();

        node.set(levels.induced, capacity, MeasuredPods.bytes(levels.free));
        assertThat(node.syncAfter(MINUTE.multipliedBy(20))).isEmpty();
        assertThat(node.manager.isUnder(pressure)).isFalse();

        node.set(levels.induced, capacity, MeasuredPods.bytes(levels.hard));
        assertThat(node.syncAfter(MINUTE)).containsExactly(first);
        assertThat(node.evicted.get(0).gracePeriod()).isEqualTo(Duration.ofSeconds(1));
        assertAdmits(node, false, pressure == PressureType.MEMORY);

        node.set(levels.induced, capacity, MeasuredPods.bytes(levels.free));
        assertPressureLasts(node, pressure);
    }

    private static void assertAdmits(ManagerFixture node, boolean bestEffort, boolean burstable) {
        assertThat(node.admits(bestEffort())).isEqualTo(bestEffort);
        assertThat(node.admits(burstable())).isEqualTo(burstable);
    }

    /** After enough has become available: for the transition period, and no pod goes. */
    private static void assertPressureLasts(ManagerFixture node, PressureType pressure) throws InterruptedException {
        assertThat(node.syncAfter(MINUTE)).isEmpty();
        assertThat(node.manager.isUnder(pressure)).isTrue();
        assertAdmits(node, false, pressure == PressureType.MEMORY);
        assertThat(node.syncAfter(MINUTE.multipliedBy(5))).isEmpty();
        assertThat(node.manager.isUnder(pressure)).isFalse();
        assertAdmits(node, true, true);
    }

    /** TestMemoryPressure. */
    @Test
    void memoryPressure_softThenHard_theBestEffortPodOfLowPriorityGoes() throws InterruptedException {
        try (ManagerFixture node = new ManagerFixture(hardAndSoft(EvictionSignal.MEMORY_AVAILABLE, "1Gi", "2Gi"))) {
            addMemoryPods(node);
            softThenHard(
                    node,
                    new Levels(EvictionSignal.MEMORY_AVAILABLE, "2Gi", "1500Mi", "500Mi"),
                    "best-effort-low-priority-low-usage");
        }
    }

    /** TestAllocatableMemoryPressure. */
    @Test
    void allocatableMemory_belowTheHardThreshold_evictsLikeMemory() throws InterruptedException {
        EvictionOptions options =
                EvictionOptions.defaults().withHard(thresholds(EvictionSignal.MEMORY_AVAILABLE, "1Gi"));
        try (ManagerFixture node = new ManagerFixture(options)) {
            addMemoryPods(node);
            node.set(EvictionSignal.MEMORY_AVAILABLE, "4Gi").set(EvictionSignal.ALLOCATABLE_MEMORY_AVAILABLE, "4Gi");
            assertThat(node.sync()).isEmpty();
            assertAdmits(node, true, true);
            node.set(EvictionSignal.ALLOCATABLE_MEMORY_AVAILABLE, "500Mi");
            assertThat(node.syncAfter(MINUTE)).containsExactly("best-effort-low-priority-low-usage");
            assertThat(node.evicted.get(0).gracePeriod()).isEqualTo(Duration.ofSeconds(1));
            assertAdmits(node, false, true);
            node.set(EvictionSignal.ALLOCATABLE_MEMORY_AVAILABLE, "2Gi");
            assertPressureLasts(node, PressureType.MEMORY);
        }
    }

    /** TestPIDPressure. */
    @Test
    void pidPressure_softThenHard_theLowPriorityPodWithMostProcessesGoes() throws InterruptedException {
        try (ManagerFixture node = new ManagerFixture(hardAndSoft(EvictionSignal.PID_AVAILABLE, "1200", "1500"))) {
            Map<String, Integer> processes = Map.of(
                    "high-priority-high-usage", 900,
                    "default-priority-low-usage", 100,
                    "default-priority-medium-usage", 400,
                    "low-priority-high-usage", 600,
                    "low-priority-low-usage", 50);
            processes.forEach((name, count) -> {
                int priority = name.startsWith("high") ? HIGH : name.startsWith("low") ? LOW : NORMAL;
                Pod pod = pod(name, priority, "", "");
                node.add(pod, MeasuredPods.processes(pod, count));
            });
            softThenHard(
                    node, new Levels(EvictionSignal.PID_AVAILABLE, "1700", "1300", "800"), "low-priority-high-usage");
        }
    }

    /** TestDiskPressureNodeFs. The containers' file system has the thresholds of the node's. */
    @ParameterizedTest
    @CsvSource({
        "SHARED, NODE_FS_AVAILABLE, NODE_FS_AVAILABLE",
        "OWN_IMAGES, IMAGE_FS_AVAILABLE, IMAGE_FS_AVAILABLE",
        "SPLIT, NODE_FS_AVAILABLE, CONTAINER_FS_AVAILABLE"
    })
    void diskPressure_softThenHard_theLowPriorityPodWithMostFilesGoes(
            StorageLayout layout, EvictionSignal threshold, EvictionSignal induced) throws InterruptedException {
        try (ManagerFixture node = new ManagerFixture(hardAndSoft(threshold, "1Gi", "2Gi"))) {
            node.layout = layout;
            addDiskPods(node);
            for (EvictionSignal signal : List.of(
                    EvictionSignal.NODE_FS_AVAILABLE,
                    EvictionSignal.IMAGE_FS_AVAILABLE,
                    EvictionSignal.CONTAINER_FS_AVAILABLE)) {
                node.set(signal, "16Gi");
            }
            softThenHard(node, new Levels(induced, "16Gi", "1536Mi", "750Mi"), "low-priority-high-usage");
        }
    }

    /** TestInodePressureFsInodes. */
    @ParameterizedTest
    @CsvSource({"SHARED, NODE_FS_INODES_FREE", "OWN_IMAGES, IMAGE_FS_INODES_FREE", "SPLIT, NODE_FS_INODES_FREE"})
    void inodePressure_softThenHard_theLowPriorityPodWithMostInodesGoes(StorageLayout layout, EvictionSignal signal)
            throws InterruptedException {
        try (ManagerFixture node = new ManagerFixture(hardAndSoft(signal, "1Mi", "2Mi"))) {
            node.layout = layout;
            Map<String, String> roots = Map.of(
                    "low-priority-high-usage", "900Mi",
                    "below-requests", "50Mi",
                    "above-requests", "400Mi",
                    "high-priority-high-usage", "400Mi",
                    "low-priority-low-usage", "100Mi");
            roots.forEach((name, root) -> {
                int priority = name.startsWith("high") ? HIGH : name.startsWith("low") ? LOW : NORMAL;
                Pod pod = pod(name, priority, "", "");
                node.add(pod, MeasuredPods.inodes(pod, root, "", ""));
            });
            softThenHard(node, new Levels(signal, "3Mi", "1536Ki", "512Ki"), "low-priority-high-usage");
        }
    }

    /** TestMinReclaim: 1Gi, and 500Mi more. */
    @Test
    void minimumReclaim_notReached_evictsAgainUntilItIs() throws InterruptedException {
        EvictionOptions options = EvictionOptions.defaults()
                .withHard(thresholds(EvictionSignal.MEMORY_AVAILABLE, "1Gi"))
                .withMinimumReclaim(Map.of("memory.available", "500Mi"));
        try (ManagerFixture node = new ManagerFixture(options)) {
            addMemoryPods(node);
            assertThat(node.set(EvictionSignal.MEMORY_AVAILABLE, "2Gi").sync()).isEmpty();
            node.set(EvictionSignal.MEMORY_AVAILABLE, "500Mi");
            assertThat(node.syncAfter(MINUTE)).containsExactly("best-effort-low-priority-low-usage");
            assertThat(node.evicted.get(0).gracePeriod()).isEqualTo(Duration.ofSeconds(1));
            node.set(EvictionSignal.MEMORY_AVAILABLE, "1229Mi");
            assertThat(node.syncAfter(MINUTE)).containsExactly("best-effort-low-priority-low-usage");
            assertThat(node.evicted.get(0).gracePeriod()).isEqualTo(Duration.ofSeconds(1));
            node.set(EvictionSignal.MEMORY_AVAILABLE, "2Gi");
            assertPressureLasts(node, PressureType.MEMORY);
        }
    }

    /** TestNodeReclaimFuncs: which collectors run, and that a pod goes only if they free too little. */
    @ParameterizedTest
    @CsvSource({
        "SHARED, NODE_FS_AVAILABLE, 'containers images'",
        "OWN_IMAGES, IMAGE_FS_AVAILABLE, 'containers images'",
        "SPLIT, NODE_FS_AVAILABLE, containers",
        "SPLIT, IMAGE_FS_AVAILABLE, images"
    })
    void nodeReclaim_beforePods_isEnoughOrNot(StorageLayout layout, EvictionSignal signal, String expected)
            throws InterruptedException {
        EvictionOptions options = EvictionOptions.defaults()
                .withHard(thresholds(signal, "1Gi"))
                .withMinimumReclaim(Map.of(signal.toString(), "500Mi"));
        try (ManagerFixture node = new ManagerFixture(options)) {
            node.layout = layout;
            addDiskPods(node);
            assertThat(node.set(signal, "16Gi").sync()).isEmpty();

            node.set(signal, "750Mi").onDelete = () -> node.set(signal, "16Gi");
            assertThat(node.syncAfter(MINUTE)).isEmpty();
            assertThat(String.join(" ", node.deleted)).isEqualTo(expected);
            assertThat(node.manager.isUnder(PressureType.DISK)).isTrue();
            assertThat(node.syncAfter(MINUTE.multipliedBy(20))).isEmpty();
            assertThat(node.manager.isUnder(PressureType.DISK)).isFalse();

            // less than the minimum reclaim
            node.set(signal, "750Mi").onDelete = () -> node.set(signal, "1049Mi");
            assertThat(node.syncAfter(MINUTE)).hasSize(1);
            node.onDelete = () -> {};
            node.set(signal, "16Gi").syncAfter(MINUTE.multipliedBy(20));
            node.set(signal, "750Mi");
            node.deleted.clear();
            // only images are on the file system of images of a split layout: then the priority counts, and the UID
            assertThat(node.syncAfter(MINUTE)).containsExactly("low-priority-high-usage");
            assertThat(node.evicted.get(0).gracePeriod()).isEqualTo(Duration.ofSeconds(1));
            assertThat(String.join(" ", node.deleted)).isEqualTo(expected);

            node.deleted.clear();
            node.set(signal, "16Gi");
            assertPressureLasts(node, PressureType.DISK);
            assertThat(node.deleted).isEmpty();
        }
    }

    /** TestStaticCriticalPodsAreNotEvicted. */
    @Test
    void criticalPod_softAndHardPressure_isNotEvicted() throws InterruptedException {
        try (ManagerFixture node = new ManagerFixture(hardAndSoft(EvictionSignal.MEMORY_AVAILABLE, "1Gi", "2Gi"))) {
            Pod critical = pod("critical", 2_000_000_000, "memory=1Gi", "memory=1Gi");
            critical.getMetadata().setAnnotations(Map.of("kubernetes.io/config.source", "file"));
            node.add(critical, MeasuredPods.memory(critical, "800Mi"));
            node.set(EvictionSignal.MEMORY_AVAILABLE, "1500Mi");
            assertThat(node.sync()).isEmpty();
            assertThat(node.syncAfter(MINUTE.multipliedBy(3))).isEmpty();
            assertThat(node.manager.isUnder(PressureType.MEMORY)).isTrue();
            node.set(EvictionSignal.MEMORY_AVAILABLE, "3Gi");
            assertThat(node.syncAfter(MINUTE.multipliedBy(20))).isEmpty();
            assertThat(node.manager.isUnder(PressureType.MEMORY)).isFalse();
            critical.getSpec().setPriority(null);
            node.set(EvictionSignal.MEMORY_AVAILABLE, "500Mi");
            assertThat(node.syncAfter(MINUTE)).isEmpty();
            assertThat(node.manager.isUnder(PressureType.MEMORY)).isTrue();
            assertThat(node.admits(critical)).isTrue();
        }
    }
}
