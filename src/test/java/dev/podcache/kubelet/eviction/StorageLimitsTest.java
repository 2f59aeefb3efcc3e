package dev.podcache.kubelet.eviction;

import static dev.podcache.kubelet.eviction.MeasuredPods.NORMAL;
import static dev.podcache.kubelet.eviction.MeasuredPods.bytes;
import static dev.podcache.kubelet.eviction.MeasuredPods.container;
import static dev.podcache.kubelet.eviction.MeasuredPods.pod;
import static dev.podcache.kubelet.eviction.MeasuredPods.withLocalVolume;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.kubelet.eviction.MeasuredPods.ContainerUse;
import dev.podcache.kubelet.runtime.ContainerStatistics.PodUsage;
import dev.podcache.kubelet.runtime.ContainerStatistics.VolumeUsage;
import dev.podcache.pod.PodReferences;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The limits of local storage in upstream's eviction_manager_test.go. */
@ExtendWith(NoLeaks.class)
class StorageLimitsTest {

    private static final EvictionOptions NO_THRESHOLDS =
            EvictionOptions.defaults().withHard(EvictionThresholds.parse(Map.of()));

    /** TestStorageLimitEvictions: also under pressure, the limit counts first. */
    @ParameterizedTest
    @CsvSource({
        "ephemeral-storage=1Gi, 2Gi, '', '', 'Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. '",
        "ephemeral-storage=1Gi, '', 2Gi, '', 'Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. '",
        "'', '', '', 2Gi, 'Usage of EmptyDir volume \"local-volume\" exceeds the limit \"1Gi\". '"
    })
    void run_podExceedsALimit_isEvictedFirst(String limits, String root, String logs, String volume, String message)
            throws InterruptedException {
        EvictionOptions options =
                EvictionOptions.defaults().withHard(EvictionThresholds.parse(Map.of("nodefs.available", "1Gi")));
        try (ManagerFixture node = new ManagerFixture(options)) {
            Pod pod = withLocalVolume(pod("web", NORMAL, limits, limits), "", volume.isEmpty() ? "" : "1Gi");
            node.add(pod, MeasuredPods.disk(pod, root, logs, volume));
            node.pods.add(pod("unmeasured", NORMAL, "", ""));
            assertThat(node.set(EvictionSignal.NODE_FS_AVAILABLE, "200Mi").sync())
                    .containsExactly("web");
            Eviction eviction = node.evicted.get(0);
            assertThat(eviction.message()).isEqualTo(message);
            assertThat(eviction.gracePeriod()).isEqualTo(Duration.ofSeconds(1));
            assertThat(eviction.forPressure()).isFalse();
            assertThat(eviction.annotations()).isEmpty();
            assertThat(node.deleted).isEmpty();
        }
    }

    /**
     * TestEmptyDirLimitEviction, a size limit of 1Gi. What upstream ignores with its gate off is not measured here. A
     * volume in memory without a measured size keeps its size limit here; with the gate on, upstream skips it.
     */
    @ParameterizedTest
    @CsvSource({
        "Memory, , 2Gi, true",
        "Memory, , 500Mi, false",
        "Memory, 3Gi, 2Gi, false",
        "Memory, 3Gi, 4Gi, true",
        "'', 3Gi, 2Gi, true",
        "'', 500Mi, 500Mi, false"
    })
    void exceeded_emptyDir_ifMoreIsUsedThanItsLimit(String medium, String size, String used, boolean expected) {
        Pod pod = withLocalVolume(pod("web", NORMAL, "", ""), medium, "1Gi");
        OptionalLong capacity = size == null ? OptionalLong.empty() : OptionalLong.of(bytes(size));
        PodUsage usage = new PodUsage(
                PodReferences.key(pod),
                List.of(),
                List.of(new VolumeUsage("local-volume", bytes(used), 1, capacity)),
                0);
        assertThat(StorageLimits.exceeded(pod, usage, StorageLayout.SHARED).isPresent())
                .isEqualTo(expected);
    }

    /** TestManagerWithLocalStorageCapacityIsolationOpen. */
    @Test
    void run_severalPodsExceedLimits_allAreEvicted() throws InterruptedException {
        try (ManagerFixture node = new ManagerFixture(NO_THRESHOLDS)) {
            Pod volume = withLocalVolume(pod("empty-dir", NORMAL, "", ""), "", "900Mi");
            node.add(volume, MeasuredPods.disk(volume, "", "", "1800Mi"));
            Pod container = pod("container-ephemeral-storage-limit", NORMAL, "", "ephemeral-storage=800Mi");
            node.add(container, MeasuredPods.disk(container, "800Mi", "800Mi", ""));
            Pod whole = pod("pod-ephemeral-storage-limit", NORMAL, "", "ephemeral-storage=800Mi");
            node.add(whole, MeasuredPods.disk(whole, "1600Mi", "", ""));
            assertThat(node.sync())
                    .containsExactly("empty-dir", "container-ephemeral-storage-limit", "pod-ephemeral-storage-limit");
        }
    }

    @Test
    void run_criticalPodExceedsItsLimit_staysAndSoDoOthersUnderNoPressure() throws InterruptedException {
        try (ManagerFixture node = new ManagerFixture(NO_THRESHOLDS)) {
            Pod critical = pod("critical", 2_000_000_000, "", "ephemeral-storage=1Mi");
            node.add(critical, MeasuredPods.disk(critical, "2Mi", "", ""));
            assertThat(node.sync()).isEmpty();
        }
    }

    @Test
    void run_limitsNotEnforced_noPodIsEvicted() throws InterruptedException {
        try (ManagerFixture node = new ManagerFixture(NO_THRESHOLDS.withLocalStorageLimits(false))) {
            Pod pod = pod("web", NORMAL, "", "ephemeral-storage=1Mi");
            node.add(pod, MeasuredPods.disk(pod, "2Mi", "", ""));
            assertThat(node.sync()).isEmpty();
        }
    }

    /** TestContainerEphemeralStorageLimitEvictionForRestartableInitContainers. */
    @Test
    void exceeded_sidecar_hasALimitOfItsOwn() {
        Pod pod = pod("main", NORMAL, "", "ephemeral-storage=1Gi");
        Container sidecar = container("sidecar", "", "ephemeral-storage=10Mi");
        sidecar.setRestartPolicy("Always");
        pod.getSpec().setInitContainers(List.of(sidecar));
        ContainerUse used = new ContainerUse(0, bytes("50Mi"), bytes("50Mi"), 0, 0);
        PodUsage usage = new PodUsage(PodReferences.key(pod), List.of(container("sidecar", used)));
        assertThat(StorageLimits.exceeded(pod, usage, StorageLayout.SHARED).map(StorageLimits.ExceededLimit::message))
                .contains("Container sidecar exceeded its local ephemeral storage limit \"10Mi\". ");
        sidecar.setRestartPolicy(null);
        assertThat(StorageLimits.exceeded(pod, usage, StorageLayout.SHARED)).isEmpty();
    }

    @Test
    void exceeded_ownImageFileSystem_onlyLogsCount() {
        Pod pod = pod("web", NORMAL, "", "ephemeral-storage=10Mi");
        PodUsage usage = MeasuredPods.disk(pod, "50Mi", "5Mi", "");
        assertThat(StorageLimits.exceeded(pod, usage, StorageLayout.OWN_IMAGES)).isEmpty();
        assertThat(StorageLimits.exceeded(pod, usage, StorageLayout.SPLIT)).isPresent();
    }
}
