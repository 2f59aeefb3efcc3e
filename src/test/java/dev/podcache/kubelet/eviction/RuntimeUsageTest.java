package dev.podcache.kubelet.eviction;

import static dev.podcache.kubelet.eviction.MeasuredPods.pod;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableMap;
import com.google.common.util.concurrent.Uninterruptibles;
import dev.podcache.kubelet.host.HostFacts.Supply;
import dev.podcache.kubelet.nodestatus.FakeHost;
import dev.podcache.kubelet.runtime.ContainerStatistics;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import dev.podcache.time.TaskThreads;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class RuntimeUsageTest {

    private static final ContainerStatistics.FileSystem IMAGES = new ContainerStatistics.FileSystem(900, 90, 0, 0);
    private static final ContainerStatistics.FileSystem CONTAINERS = new ContainerStatistics.FileSystem(800, 80, 70, 7);

    private final FakeHost host = new FakeHost();
    private final ManualTimekeeper time = new ManualTimekeeper();
    private ContainerStatistics.RuntimeFileSystems fileSystems = ContainerStatistics.RuntimeFileSystems.SHARED;

    private final List<ContainerStatistics.PodUsage> pods = new ArrayList<>();

    /** Statistics of {@code pods}, by default of one that uses 300 bytes. */
    private class Statistics implements ContainerStatistics {
        @Override
        public List<PodUsage> usage() throws IOException {
            return pods.isEmpty() ? List.of(MeasuredPods.memory(pod("web", 0, "", ""), "300")) : pods;
        }

        @Override
        public RuntimeFileSystems fileSystems() {
            return fileSystems;
        }
    }

    private RuntimeUsage usage(Optional<ContainerStatistics> statistics) {
        return new RuntimeUsage(
                host,
                () -> statistics,
                () -> OptionalLong.of(1000),
                RuntimeUsage.limitedCall(TaskThreads.on(NewThread.EACH, 8, time), time));
    }

    private Measurement measure() throws InterruptedException {
        return usage(Optional.of(new Statistics())).measure();
    }

    @Test
    void measure_oneFileSystem_isTheNodesForAllSignals() throws InterruptedException {
        Measurement measured = measure();
        assertThat(measured.layout()).isEqualTo(StorageLayout.SHARED);
        assertThat(measured.supply(EvictionSignal.IMAGE_FS_AVAILABLE)).isEqualTo(host.bytes);
        assertThat(measured.supply(EvictionSignal.CONTAINER_FS_INODES_FREE)).isEqualTo(host.inodes);
        assertThat(measured.supply(EvictionSignal.MEMORY_AVAILABLE)).isEqualTo(host.memory);
        assertThat(measured.supply(EvictionSignal.PID_AVAILABLE)).isEqualTo(host.processIds);
        assertThat(measured.supply(EvictionSignal.ALLOCATABLE_MEMORY_AVAILABLE)).contains(new Supply(1000, 700));
    }

    @Test
    void measure_ownImages_containersAreWithThem() throws InterruptedException {
        fileSystems = new ContainerStatistics.RuntimeFileSystems(Optional.of(IMAGES), Optional.empty());
        Measurement measured = measure();
        assertThat(measured.layout()).isEqualTo(StorageLayout.OWN_IMAGES);
        assertThat(measured.supply(EvictionSignal.CONTAINER_FS_AVAILABLE)).contains(new Supply(900, 90));
        assertThat(measured.supply(EvictionSignal.IMAGE_FS_INODES_FREE)).isEmpty();
        assertThat(measured.supply(EvictionSignal.NODE_FS_AVAILABLE)).isEqualTo(host.bytes);
    }

    @Test
    void measure_split_eachHasItsOwn() throws InterruptedException {
        fileSystems = new ContainerStatistics.RuntimeFileSystems(Optional.of(IMAGES), Optional.of(CONTAINERS));
        Measurement measured = measure();
        assertThat(measured.layout()).isEqualTo(StorageLayout.SPLIT);
        assertThat(measured.supply(EvictionSignal.IMAGE_FS_AVAILABLE)).contains(new Supply(900, 90));
        assertThat(measured.supply(EvictionSignal.CONTAINER_FS_INODES_FREE)).contains(new Supply(70, 7));
    }

    /** TestMakeSignalObservations. */
    @Test
    void measure_everything_hasEachSignalAndEachPod() throws InterruptedException {
        ContainerStatistics.FileSystem images = new ContainerStatistics.FileSystem(2000, 1000, 600, 500);
        fileSystems = new ContainerStatistics.RuntimeFileSystems(Optional.of(images), Optional.of(CONTAINERS));
        host.memory = Optional.of(new Supply(2048, 1024));
        host.bytes = Optional.of(new Supply(2048, 1000));
        host.inodes = Optional.of(new Supply(1024, 900));
        host.processIds = Optional.of(new Supply(255816, 254816));
        List<Pod> measuredPods = List.of(pod("pod1", 0, "", ""), pod("pod1", 0, "", ""), pod("pod3", 0, "", ""));
        measuredPods.get(1).getMetadata().setUid("another");
        measuredPods.forEach(pod -> pods.add(MeasuredPods.memory(pod, "200")));
        Measurement measured = measure();
        assertThat(measured.supplies())
                .isEqualTo(ImmutableMap.builder()
                        .put(EvictionSignal.MEMORY_AVAILABLE, new Supply(2048, 1024))
                        .put(EvictionSignal.ALLOCATABLE_MEMORY_AVAILABLE, new Supply(1000, 400))
                        .put(EvictionSignal.NODE_FS_AVAILABLE, new Supply(2048, 1000))
                        .put(EvictionSignal.NODE_FS_INODES_FREE, new Supply(1024, 900))
                        .put(EvictionSignal.IMAGE_FS_AVAILABLE, new Supply(2000, 1000))
                        .put(EvictionSignal.IMAGE_FS_INODES_FREE, new Supply(600, 500))
                        .put(EvictionSignal.CONTAINER_FS_AVAILABLE, new Supply(800, 80))
                        .put(EvictionSignal.CONTAINER_FS_INODES_FREE, new Supply(70, 7))
                        .put(EvictionSignal.PID_AVAILABLE, new Supply(255816, 254816))
                        .buildOrThrow());
        assertThat(measuredPods).map(pod -> measured.usage(pod).orElseThrow()).isEqualTo(pods);
    }

    @Test
    void measure_noStatistics_hasTheNodeOnly() throws InterruptedException {
        Measurement measured = usage(Optional.empty()).measure();
        assertThat(measured.pods()).isEqualTo(PodFigures.NONE);
        assertThat(measured.supply(EvictionSignal.MEMORY_AVAILABLE)).isEqualTo(host.memory);
        assertThat(measured.supply(EvictionSignal.ALLOCATABLE_MEMORY_AVAILABLE)).isEmpty();
        assertThat(measured.supply(EvictionSignal.IMAGE_FS_AVAILABLE)).isEqualTo(host.bytes);
    }

    @Test
    @ExpectedWarnings("the runtime failed to return the usage of its pods")
    void measure_statisticsThrowAnError_hasTheNodeOnly() throws InterruptedException {
        RuntimeUsage usage = usage(Optional.of(() -> {
            throw new NoSuchMethodError("for the test");
        }));
        Measurement measured = usage.measure();
        assertThat(measured.pods()).isEqualTo(PodFigures.NONE);
        assertThat(measured.supply(EvictionSignal.NODE_FS_AVAILABLE)).isEqualTo(host.bytes);
        assertThat(measured.supply(EvictionSignal.IMAGE_FS_AVAILABLE)).isEmpty();
    }

    @Test
    @ExpectedWarnings("the runtime has not returned the usage of its pods for 10 s")
    void measure_statisticsHang_hasTheNodeOnlyUntilTheyReturn() throws InterruptedException {
        CountDownLatch released = new CountDownLatch(1);
        RuntimeUsage usage = usage(Optional.of(() -> {
            Uninterruptibles.awaitUninterruptibly(released);
            return List.of();
        }));
        CompletableFuture<Boolean> first = CompletableFuture.supplyAsync(() -> measured(usage), NewThread.EACH);
        time.awaitWaiters(1);
        time.advance(Duration.ofSeconds(10));
        assertThat(first.join()).isFalse();
        assertThat(usage.measure().pods()).isEqualTo(PodFigures.NONE);
        released.countDown();
        Patience.await().until(() -> measured(usage));
    }

    @Test
    @ExpectedWarnings("the runtime failed to return the usage of its pods; going on with the result of 40 s ago")
    void measure_statisticsFailLater_hasTheEarlierUsageOfPods_andWhatTheMachineShows() throws InterruptedException {
        AtomicBoolean fails = new AtomicBoolean();
        RuntimeUsage usage = usage(Optional.of(() -> {
            if (fails.get()) {
                throw new NoSuchMethodError("for the test");
            }
            return List.of(MeasuredPods.memory(pod("web", 0, "", ""), "300"));
        }));
        usage.measure();
        fails.set(true);
        time.advance(Duration.ofSeconds(40));

        Measurement measured = usage.measure();

        assertThat(measured.pods()).isEqualTo(PodFigures.OLD);
        assertThat(measured.usage(pod("web", 0, "", ""))).isPresent();
        assertThat(measured.supply(EvictionSignal.MEMORY_AVAILABLE)).isEqualTo(host.memory);
        assertThat(measured.supply(EvictionSignal.ALLOCATABLE_MEMORY_AVAILABLE)).isEmpty();
        assertThat(measured.supply(EvictionSignal.IMAGE_FS_AVAILABLE)).isEmpty();
    }

    @Test
    @ExpectedWarnings("the runtime has not returned the usage of its pods for 10 s; going on without")
    void measure_statisticsAlwaysReturnTooLate_theLastOnesCount() {
        Semaphore returns = new Semaphore(0);
        LimitedCall<RuntimeUsage.UsageFigures> calls =
                RuntimeUsage.limitedCall(TaskThreads.on(NewThread.EACH, 8, time), time);
        ContainerStatistics slow = () -> {
            returns.acquireUninterruptibly();
            return List.of(MeasuredPods.memory(pod("web", 0, "", ""), "300"));
        };
        RuntimeUsage usage = new RuntimeUsage(host, () -> Optional.of(slow), () -> OptionalLong.of(1000), calls);
        assertThat(measuredAfterTheLimit(usage)).isEqualTo(PodFigures.NONE);
        returns.release();
        Patience.await().until(() -> calls.last().isPresent());

        assertThat(measuredAfterTheLimit(usage)).isEqualTo(PodFigures.OLD);
        returns.release(10);
    }

    private PodFigures measuredAfterTheLimit(RuntimeUsage usage) {
        CompletableFuture<PodFigures> figures = CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return usage.measure().pods();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                },
                NewThread.EACH);
        Patience.await().until(() -> {
            time.advance(Duration.ofSeconds(10));
            return figures.isDone();
        });
        return figures.join();
    }

    private static boolean measured(RuntimeUsage usage) {
        try {
            return usage.measure().pods() == PodFigures.NEW;
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
