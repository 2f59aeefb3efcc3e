package dev.podcache.kubelet.eviction;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Maps;
import dev.podcache.kubelet.events.EventRecorder;
import dev.podcache.kubelet.events.EventRecorder.EventType;
import dev.podcache.kubelet.events.InvolvedObject;
import dev.podcache.kubelet.eviction.RuntimeUsage.UsageFigures;
import dev.podcache.kubelet.eviction.StorageLayout.Cleanup;
import dev.podcache.kubelet.eviction.ThresholdTracker.Assessment;
import dev.podcache.kubelet.host.HostFacts;
import dev.podcache.kubelet.runtime.ContainerStatistics;
import dev.podcache.kubelet.runtime.DiskReclaim;
import dev.podcache.time.PeriodicLoop;
import dev.podcache.time.TaskThreads;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Measures a node every 10 s, reports its pressure, and evicts pods while a resource is short or a pod exceeds a limit of
 * local storage. Each run evicts one pod at most for a resource, after it has deleted what no pod needs, and the next run
 * begins when that pod has stopped, or after 30 s. Thread-safe; no method blocks.
 *
 * <p>A runtime that does not measure its pods has none evicted: its node reports pressure only. Follows the kubelet's
 * {@code pkg/kubelet/eviction/eviction_manager.go}.
 */
public final class EvictionManager implements AutoCloseable {

    /*
     * One run at a time: the loop starts the next one when the future of the last one is complete. So the fields of the
     * policy, of the usage and `unreadable` need no lock, although each run has another thread. `pressures` is the only
     * state that other threads read; `evicting` is changed by those that complete evictions.
     */

    private static final Logger log = LoggerFactory.getLogger(EvictionManager.class);

    private static final Duration PERIOD = Duration.ofSeconds(10);
    private static final Duration CLEANUP_TIMEOUT = Duration.ofSeconds(30);
    private static final Duration RECLAIM_LIMIT = Duration.ofSeconds(30);

    private final EvictionPolicy policy;
    private final ManagerParts parts;
    private final NodeUsage usage;
    private final LimitedCall<Cleanup> reclaims;
    private final PeriodicLoop loop;
    private final Set<EvictionSignal> unreadable = EnumSet.noneOf(EvictionSignal.class);
    private final Map<String, Eviction> evicting = new ConcurrentHashMap<>(); // by the UID of the pod
    private final ImmutableMap<String, LongAdder> evictions = Stream.concat(
                    Arrays.stream(EvictionSignal.values()).map(EvictionSignal::toString),
                    Stream.of(StorageLimits.EMPTY_DIR, StorageLimits.POD, StorageLimits.CONTAINER))
            .collect(ImmutableMap.toImmutableMap(signal -> signal, signal -> new LongAdder()));
    private volatile ImmutableSet<PressureType> pressures = ImmutableSet.of();
    private volatile Future<?> running = CompletableFuture.completedFuture(pressures);
    private volatile boolean closed;

    /**
     * The collaborators of a manager, which does not close them.
     *
     * @param node the name of the node, for events
     * @param reclaim deletes what no pod needs; empty if the runtime cannot
     * @param changed called when the pressure of the node has changed; must not block
     * @param threads run the calls of the runtime, regardless of their limit
     */
    public record ManagerParts(
            String node,
            Optional<DiskReclaim> reclaim,
            EvictablePods pods,
            EventRecorder events,
            Runnable changed,
            TaskThreads threads,
            Timekeeper timekeeper) {}

    EvictionManager(EvictionOptions options, NodeUsage usage, ManagerParts parts) {
        this.policy = new EvictionPolicy(options);
        this.usage = usage;
        this.parts = parts;
        this.reclaims = new LimitedCall<>(
                "from deleting unused containers and images", RECLAIM_LIMIT, parts.threads, parts.timekeeper);
        this.loop = new PeriodicLoop(this::run, PERIOD, parts.timekeeper, () -> 0);
    }

    /**
     * Returns a manager that does nothing until {@link #start}.
     *
     * @param statistics of the runtime; empty if it has none. While a call throws or does not return for 10 s, the last
     *     figures of pods count
     * @param podMemory the memory that all pods together may use, in bytes; empty if unknown
     */
    public static EvictionManager of(
            EvictionOptions options,
            HostFacts facts,
            Supplier<Optional<ContainerStatistics>> statistics,
            Supplier<OptionalLong> podMemory,
            ManagerParts parts) {
        LimitedCall<UsageFigures> calls = RuntimeUsage.limitedCall(parts.threads, parts.timekeeper);
        return new EvictionManager(options, new RuntimeUsage(facts, statistics, podMemory, calls), parts);
    }

    /** Begins to measure. Call it once. */
    public void start() {
        loop.start();
    }

    /** Returns whether the node is under this pressure, or was within the transition period. */
    public boolean isUnder(PressureType pressure) {
        return pressures.contains(pressure);
    }

    /** Returns the time since a run last began or ended; since the creation of this object if none has begun. */
    public Duration sinceTick() {
        return loop.sinceTick();
    }

    /** Returns how many pods were evicted, by the signal of the threshold or limit that was the reason; zeros too. */
    public Map<String, Long> evictions() {
        return ImmutableMap.copyOf(Maps.transformValues(evictions, LongAdder::sum));
    }

    /** Returns why a new pod must not start now; empty if it may. */
    public Optional<PodRejection> rejection(Pod pod) {
        return EvictionPolicy.rejection(pod, pressures);
    }

    /** Starts no further run and evicts no further pod. The pressure stays readable. Idempotent. */
    @Override
    public void close() {
        closed = true;
        loop.close();
        running.cancel(true);
    }

    private CompletableFuture<Void> run() {
        CompletableFuture<Void> done = new CompletableFuture<>();
        running = parts.threads.submit(() -> {
            try {
                await(runOnce(), done);
            } catch (InterruptedException e) {
                log.debug("the eviction manager was interrupted", e);
                done.complete(null);
            } catch (Throwable e) {
                // includes Error: a fact or a runtime that lacks a class must not end the loop
                try {
                    log.error("a run of the eviction manager failed; retrying in {} s", PERIOD.toSeconds(), e);
                } finally {
                    done.complete(null);
                }
            }
            return done;
        });
        return done;
    }

    /** Completes {@code done} when these evictions have ended, or after the timeout; a run follows at once. */
    private void await(List<CompletableFuture<Void>> evictions, CompletableFuture<Void> done) {
        // a pod that ends without a wait, such as one that is gone, must not make the loop spin
        if (evictions.stream().allMatch(CompletableFuture::isDone)) {
            done.complete(null);
            return;
        }
        Timekeeper.Scheduled timer = parts.timekeeper.schedule(CLEANUP_TIMEOUT, () -> {
            log.warn("an evicted pod has not stopped for {} s; going on", CLEANUP_TIMEOUT.toSeconds());
            done.complete(null);
        });
        done.whenComplete((none, failure) -> timer.cancel());
        loop.runSoon();
        CompletableFuture.allOf(evictions.toArray(CompletableFuture[]::new))
                .whenComplete((none, failure) -> done.complete(null));
    }

    /** Makes one run. Returns the evictions that it began. */
    List<CompletableFuture<Void>> runOnce() throws InterruptedException {
        Measurement measurement = usage.measure();
        warnOfUnreadable(measurement);
        Assessment assessment = policy.assess(measurement, parts.timekeeper.nanoTime());
        publish(assessment.pressures());
        if (measurement.pods() == PodFigures.NONE || closed) {
            return List.of();
        }
        List<Pod> active = parts.pods.active();
        List<Eviction> overLimits = policy.overLimits(active, measurement).stream()
                .filter(this::endsItSooner)
                .toList();
        if (!overLimits.isEmpty()) {
            return overLimits.stream().map(this::evict).toList();
        }
        return assessment.due().isEmpty()
                ? List.of()
                : relieve(assessment, active, measurement).stream().toList();
    }

    /** Reclaims the resource of the first threshold that is due. Returns the eviction of a pod, if one was needed. */
    private Optional<CompletableFuture<Void>> relieve(Assessment assessment, List<Pod> active, Measurement measurement)
            throws InterruptedException {
        EvictionThreshold first = assessment.due().get(0);
        log.info(
                "eviction threshold {} is met; attempting to reclaim {}{}",
                first,
                first.signal().resource(),
                measurement.pods() == PodFigures.OLD ? ", by earlier figures of the pods" : "");
        parts.events.event(
                InvolvedObject.ofNode(parts.node),
                EventType.WARNING,
                "EvictionThresholdMet",
                "Attempting to reclaim " + first.signal().resource());
        if (reclaimed(EvictionPolicy.cleanup(first, measurement))) {
            return Optional.empty();
        }
        Optional<Eviction> eviction = policy.forPressure(assessment, active, measurement)
                .filter(this::endsItSooner)
                .findFirst();
        if (eviction.isEmpty()) {
            log.info("no pod can be evicted to reclaim {}", first.signal().resource());
        }
        return eviction.map(this::evict);
    }

    private void publish(ImmutableSet<PressureType> newest) {
        boolean differs = !newest.equals(pressures);
        pressures = newest;
        if (differs) {
            log.info("the pressures of the node are now {}", newest);
            parts.changed.run();
        }
    }

    /** Deletes what no pod needs. Returns whether that is enough. */
    private boolean reclaimed(ImmutableSet<Cleanup> cleanup) throws InterruptedException {
        DiskReclaim reclaim = parts.reclaim.orElse(null);
        if (cleanup.isEmpty() || reclaim == null) {
            return false;
        }
        for (Cleanup each : cleanup) {
            reclaims.make(() -> {
                if (each == Cleanup.CONTAINERS) {
                    reclaim.deleteUnusedContainers();
                } else {
                    reclaim.deleteUnusedImages();
                }
                return each;
            });
        }
        return policy.isRelieved(usage.measure());
    }

    /**
     * Returns whether an eviction makes a difference. If the pod does not stop within the time that a run waits for it, the
     * next run evicts another one, unless the pod must stop sooner now.
     */
    private boolean endsItSooner(Eviction eviction) {
        Eviction begun = evicting.get(uid(eviction));
        return begun == null || eviction.gracePeriod().compareTo(begun.gracePeriod()) < 0;
    }

    private static String uid(Eviction eviction) {
        return String.valueOf(eviction.pod().getMetadata().getUid());
    }

    private CompletableFuture<Void> evict(Eviction eviction) {
        Pod pod = eviction.pod();
        log.info(
                "evicting pod {}/{}: {}",
                pod.getMetadata().getNamespace(),
                pod.getMetadata().getName(),
                eviction.message());
        parts.events
                .annotated(eviction.annotations())
                .event(InvolvedObject.of(pod), EventType.WARNING, Eviction.REASON, eviction.message());
        Optional.ofNullable(evictions.get(eviction.signal())).ifPresent(LongAdder::increment);
        CompletableFuture<Void> ended = parts.pods.evict(eviction);
        evicting.put(uid(eviction), eviction);
        ended.whenComplete((none, failure) -> evicting.remove(uid(eviction)));
        return ended;
    }

    private void warnOfUnreadable(Measurement measurement) {
        for (EvictionThreshold threshold : policy.thresholds(measurement.layout())) {
            EvictionSignal signal = threshold.signal();
            if (measurement.supply(signal).isPresent()) {
                unreadable.remove(signal);
            } else if (isExpected(signal, measurement) && unreadable.add(signal)) {
                log.warn(
                        "{} cannot be read on this machine; its eviction threshold {} is ignored",
                        signal,
                        threshold.value());
            }
        }
    }

    /** Returns whether a signal is missing only because the machine does not show it. */
    private static boolean isExpected(EvictionSignal signal, Measurement measurement) {
        return !signal.isDerived() && (measurement.pods() == PodFigures.NEW || !signal.isOfImages());
    }
}
