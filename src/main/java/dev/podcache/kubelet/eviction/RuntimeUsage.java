package dev.podcache.kubelet.eviction;

import dev.podcache.kubelet.host.HostFacts;
import dev.podcache.kubelet.host.HostFacts.Supply;
import dev.podcache.kubelet.runtime.ContainerStatistics;
import dev.podcache.kubelet.runtime.ContainerStatistics.ContainerUsage;
import dev.podcache.kubelet.runtime.ContainerStatistics.FileSystem;
import dev.podcache.kubelet.runtime.ContainerStatistics.PodUsage;
import dev.podcache.kubelet.runtime.ContainerStatistics.RuntimeFileSystems;
import dev.podcache.time.TaskThreads;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;

/** Measures a node by the facts of its machine and the statistics of its runtime. Used by one thread at a time. */
final class RuntimeUsage implements NodeUsage {

    private static final Duration LIMIT = Duration.ofSeconds(10);

    private final HostFacts facts;
    private final Supplier<Optional<ContainerStatistics>> statistics;
    private final Supplier<OptionalLong> podMemory;
    private final LimitedCall<UsageFigures> calls;

    /** What a runtime measures. */
    record UsageFigures(List<PodUsage> pods, RuntimeFileSystems fileSystems) {}

    /**
     * Creates an instance.
     *
     * @param statistics of the runtime; empty if it has none, so that images are on the node's file system
     * @param podMemory the memory that all pods together may use, in bytes; empty if unknown
     */
    RuntimeUsage(
            HostFacts facts,
            Supplier<Optional<ContainerStatistics>> statistics,
            Supplier<OptionalLong> podMemory,
            LimitedCall<UsageFigures> calls) {
        this.facts = facts;
        this.statistics = statistics;
        this.podMemory = podMemory;
        this.calls = calls;
    }

    static LimitedCall<UsageFigures> limitedCall(TaskThreads threads, Timekeeper timekeeper) {
        return new LimitedCall<>("the usage of its pods", LIMIT, threads, timekeeper);
    }

    @Override
    public Measurement measure() throws InterruptedException {
        Map<EvictionSignal, Supply> supplies = new EnumMap<>(EvictionSignal.class);
        Optional<ContainerStatistics> measuring = statistics.get();
        Optional<UsageFigures> figures = measuring.isPresent() ? figures(measuring.get()) : Optional.empty();
        facts.memory().ifPresent(supply -> supplies.put(EvictionSignal.MEMORY_AVAILABLE, supply));
        facts.processIds().ifPresent(supply -> supplies.put(EvictionSignal.PID_AVAILABLE, supply));
        facts.fileSystemBytes().ifPresent(supply -> supplies.put(EvictionSignal.NODE_FS_AVAILABLE, supply));
        facts.fileSystemInodes().ifPresent(supply -> supplies.put(EvictionSignal.NODE_FS_INODES_FREE, supply));
        if (figures.isPresent() || measuring.isEmpty()) {
            // while statistics fail, it is not known whether images are on the node's file system
            addFileSystems(supplies, figures.map(UsageFigures::fileSystems).orElse(RuntimeFileSystems.SHARED));
        }
        if (figures.isEmpty()) {
            return withoutNewPods(supplies, measuring.isPresent() ? calls.last() : Optional.empty());
        }
        List<PodUsage> pods = figures.get().pods();
        podMemory
                .get()
                .ifPresent(capacity -> supplies.put(
                        EvictionSignal.ALLOCATABLE_MEMORY_AVAILABLE, new Supply(capacity, capacity - memory(pods))));
        return Measurement.of(supplies, pods, layout(figures.get().fileSystems()));
    }

    /** Takes only the usage of pods from earlier figures: what the node has left by them would not grow by an eviction. */
    private static Measurement withoutNewPods(Map<EvictionSignal, Supply> supplies, Optional<UsageFigures> earlier) {
        return earlier.map(known -> Measurement.of(supplies, known.pods(), layout(known.fileSystems()))
                        .withOldPods())
                .orElseGet(() -> Measurement.of(supplies, List.of(), StorageLayout.SHARED)
                        .withoutPods());
    }

    private Optional<UsageFigures> figures(ContainerStatistics measuring) throws InterruptedException {
        return calls.make(() -> new UsageFigures(
                List.copyOf(measuring.usage()), Objects.requireNonNull(measuring.fileSystems(), "fileSystems()")));
    }

    private static void addFileSystems(Map<EvictionSignal, Supply> supplies, RuntimeFileSystems runtime) {
        Optional<Supply> bytes = Optional.ofNullable(supplies.get(EvictionSignal.NODE_FS_AVAILABLE));
        Optional<Supply> inodes = Optional.ofNullable(supplies.get(EvictionSignal.NODE_FS_INODES_FREE));
        Optional<Supply> imageBytes = runtime.images().map(RuntimeUsage::bytes).or(() -> bytes);
        Optional<Supply> imageInodes =
                runtime.images().isPresent() ? runtime.images().flatMap(RuntimeUsage::inodes) : inodes;
        imageBytes.ifPresent(supply -> supplies.put(EvictionSignal.IMAGE_FS_AVAILABLE, supply));
        imageInodes.ifPresent(supply -> supplies.put(EvictionSignal.IMAGE_FS_INODES_FREE, supply));
        Optional<Supply> containerBytes =
                runtime.containers().map(RuntimeUsage::bytes).or(() -> imageBytes);
        Optional<Supply> containerInodes =
                runtime.containers().isPresent() ? runtime.containers().flatMap(RuntimeUsage::inodes) : imageInodes;
        containerBytes.ifPresent(supply -> supplies.put(EvictionSignal.CONTAINER_FS_AVAILABLE, supply));
        containerInodes.ifPresent(supply -> supplies.put(EvictionSignal.CONTAINER_FS_INODES_FREE, supply));
    }

    private static StorageLayout layout(RuntimeFileSystems runtime) {
        if (runtime.images().isEmpty()) {
            return StorageLayout.SHARED;
        }
        return runtime.containers().isPresent() ? StorageLayout.SPLIT : StorageLayout.OWN_IMAGES;
    }

    private static Supply bytes(FileSystem fileSystem) {
        return new Supply(fileSystem.capacityBytes(), fileSystem.availableBytes());
    }

    private static Optional<Supply> inodes(FileSystem fileSystem) {
        return fileSystem.inodes() == 0
                ? Optional.empty()
                : Optional.of(new Supply(fileSystem.inodes(), fileSystem.inodesFree()));
    }

    private static long memory(List<PodUsage> pods) {
        return pods.stream()
                .flatMap(pod -> pod.containers().stream())
                .mapToLong(ContainerUsage::workingSetBytes)
                .sum();
    }
}
