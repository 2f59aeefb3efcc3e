package dev.podcache.kubelet.eviction;

import dev.podcache.kubelet.host.HostFacts.Supply;
import dev.podcache.kubelet.runtime.ContainerStatistics.PodUsage;
import dev.podcache.kubelet.runtime.DiskReclaim;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.RecordedEvents;
import dev.podcache.time.TaskThreads;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/** An eviction manager whose measurements a test sets, on hand-driven time. */
final class ManagerFixture implements EvictablePods, DiskReclaim, AutoCloseable {

    final ManualTimekeeper time = new ManualTimekeeper();
    final RecordedEvents events = new RecordedEvents();
    final Map<EvictionSignal, Supply> supplies = new EnumMap<>(EvictionSignal.class);
    final List<Pod> pods = new ArrayList<>();
    final List<PodUsage> usage = new ArrayList<>();
    final List<Eviction> evicted = new ArrayList<>();
    final List<String> deleted = new ArrayList<>();
    final List<String> changes = new ArrayList<>();
    StorageLayout layout = StorageLayout.SHARED;
    boolean podsMeasured = true;
    boolean podsAreOld;
    boolean endsAtOnce = true;
    boolean fails;
    int measured;
    Runnable onDelete = () -> {};
    final List<CompletableFuture<Void>> ends = new ArrayList<>();
    final EvictionManager manager;

    ManagerFixture(EvictionOptions options) {
        this(options, Runnable::run);
    }

    ManagerFixture(EvictionOptions options, Executor threads) {
        manager = new EvictionManager(
                options,
                this::measure,
                new EvictionManager.ManagerParts(
                        "test",
                        Optional.of(this),
                        this,
                        events,
                        () -> changes.add("changed"),
                        TaskThreads.on(threads, 8, time),
                        time));
    }

    private Measurement measure() {
        measured++;
        if (fails) {
            throw new NoSuchMethodError("for the test");
        }
        Measurement all = Measurement.of(supplies, usage, layout);
        if (podsAreOld) {
            return all.withOldPods();
        }
        return podsMeasured ? all : all.withoutPods();
    }

    /** Adds a pod and what it uses, and returns the pod. */
    Pod add(Pod pod, PodUsage used) {
        pods.add(pod);
        usage.add(used);
        return pod;
    }

    ManagerFixture set(EvictionSignal signal, long capacity, long available) {
        supplies.put(signal, new Supply(capacity, available));
        return this;
    }

    /** Sets the available amount as upstream's tests do: half of the capacity. */
    ManagerFixture set(EvictionSignal signal, String available) {
        return set(signal, 2 * MeasuredPods.bytes(available), MeasuredPods.bytes(available));
    }

    /** Makes one run some time after the last one. Returns the pods that it evicted. */
    List<String> syncAfter(Duration pause) throws InterruptedException {
        time.advance(pause);
        evicted.clear();
        manager.runOnce();
        return evicted.stream().map(each -> each.pod().getMetadata().getName()).toList();
    }

    List<String> sync() throws InterruptedException {
        return syncAfter(Duration.ZERO);
    }

    boolean admits(Pod pod) {
        return manager.rejection(pod).isEmpty();
    }

    @Override
    public List<Pod> active() {
        return List.copyOf(pods);
    }

    @Override
    public CompletableFuture<Void> evict(Eviction eviction) {
        evicted.add(eviction);
        CompletableFuture<Void> end = new CompletableFuture<>();
        ends.add(end);
        if (endsAtOnce) {
            end.complete(null);
        }
        return end;
    }

    @Override
    public void deleteUnusedContainers() {
        deleted.add("containers");
        onDelete.run();
    }

    @Override
    public void deleteUnusedImages() {
        deleted.add("images");
        onDelete.run();
    }

    @Override
    public void close() {
        manager.close();
        time.close();
    }
}
