package dev.podcache.kubelet.podsync;

import dev.podcache.kubelet.eviction.Eviction;
import dev.podcache.manager.Manager;
import dev.podcache.pod.PodOrigin;
import dev.podcache.time.OverdueCalls;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Runs the pods of a node, each with a worker of its own. {@link ServerPods} adds the pods of the API server, {@link
 * StaticPods} those that come from files. A pod is identified by its UID, so a deleted pod and its successor of the same
 * name stop and start independently. Thread-safe.
 *
 * <p>Follows the kubelet's {@code pod_workers.go}.
 */
public final class PodWorkers implements AutoCloseable {

    /*
     * A pod has at most one active worker: a worker enters `workers` only in place of none or of a finished one. The
     * reflector, the static pods and the search for orphans may add the same pod at the same time.
     */

    private static final Logger log = LoggerFactory.getLogger(PodWorkers.class);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);

    private final WorkerParts parts;
    private final PodAdmission admission;
    private final DoubleSupplier random;
    private final Evictions evictions = new Evictions();
    private final RuntimeCalls calls;
    private final LifecycleHooks hooks;
    private final OrphanedPods orphans;
    private final Map<String, PodWorker> workers = new ConcurrentHashMap<>();
    private final ChangedObjects objects;
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile @Nullable StaticPods staticPods;

    /**
     * Creates workers for no pods.
     *
     * @param admission asked at the first sync of a pod that the runtime does not know
     * @param listing notices when the runtime does not list its pods
     * @param random uniform in [0, 1), for the jitter of sync periods
     */
    public PodWorkers(WorkerParts parts, PodAdmission admission, OverdueCalls listing, DoubleSupplier random) {
        this.parts = parts;
        this.admission = admission;
        this.random = random;
        this.calls = new RuntimeCalls(parts.threads(), parts.timekeeper(), this::hangs);
        RuntimeExec exec = new RuntimeExec(parts.runtime(), parts.threads());
        this.hooks = new LifecycleHooks(exec, parts.network(), parts.timekeeper());
        this.objects = new ChangedObjects(parts.timekeeper().workers(), this::changed);
        this.orphans = new OrphanedPods(parts, listing, workers::containsKey, this::endOrphan, random);
    }

    /** Stops the pods of the API server that are not in its complete list. */
    void listed(Set<String> uids) {
        for (PodWorker worker : List.copyOf(workers.values())) {
            Pod pod = worker.pod();
            if (!PodOrigin.isStatic(pod) && !uids.contains(pod.getMetadata().getUid())) {
                remove(pod);
            }
        }
        orphans.listed();
    }

    /** Returns the pods that only the runtime knows. Blocks, and throws what the runtime throws. */
    List<Pod> orphans() {
        return orphans.find();
    }

    /** Stops a pod that only the runtime knows. */
    void endOrphan(Pod orphan) {
        StaticPods source = staticPods;
        if (source != null) {
            source.ending(orphan);
        }
        PodWorker worker = worker(orphan);
        worker.assumeGone();
        begin(worker, null);
    }

    /** Sets what provides static pods. Call it once, before any pod is added. */
    void setStaticPods(StaticPods source) {
        staticPods = source;
        orphans.awaitFiles();
    }

    /** Tells that all static pods were added once. */
    void filesRead() {
        orphans.filesRead();
    }

    /** Adds or replaces a pod. */
    void put(Pod pod) {
        String uid = pod.getMetadata().getUid();
        parts.known().put(uid, pod);
        PodWorker worker = workers.get(uid);
        // another thread may take the pod for an orphan meanwhile, and add a worker
        while ((worker == null || !worker.changed(pod)) && !begin(worker(pod), worker)) {
            worker = workers.get(uid);
        }
    }

    /** Adds a worker in place of a finished one, and starts it. Returns false if the pod has another worker meanwhile. */
    private boolean begin(PodWorker added, @Nullable PodWorker finished) {
        String uid = added.pod().getMetadata().getUid();
        boolean isOnly =
                finished == null ? workers.putIfAbsent(uid, added) == null : workers.replace(uid, finished, added);
        if (isOnly) {
            if (closed.get()) {
                // close() may have run before this worker was added
                added.close();
            }
            added.requestSync();
        }
        return isOnly;
    }

    private PodWorker worker(Pod pod) {
        PodLifecycle lifecycle =
                new PodLifecycle(parts, calls, hooks, new PodLifecycle.NodeDecisions(admission, evictions));
        GuardedSync sync = new GuardedSync(pod.getMetadata().getUid(), lifecycle);
        return new PodWorker(pod, sync, parts.threads(), parts.timekeeper());
    }

    /**
     * Syncs a pod at once when an object changes that it refers to, until these workers are closed.
     *
     * @param manager of the objects; its strategy must not be GET
     */
    public void follow(Manager<?> manager) {
        objects.follow(manager);
    }

    /**
     * Syncs a pod at once, because something has changed that the pod does not show: its containers, or an object that
     * it refers to. Ignored if the node has no such pod. Does not block.
     */
    public void changed(String uid) {
        PodWorker worker = workers.get(Objects.requireNonNull(uid, "the UID of the pod"));
        if (worker != null) {
            worker.requestSync();
        }
    }

    /**
     * Reports at once what the probes of a pod have found, also while a sync of it blocks, and syncs the pod. Ignored
     * if the node has no such pod. Does not block.
     */
    public void probed(String uid) {
        PodWorker worker = workers.get(Objects.requireNonNull(uid, "the UID of the pod"));
        if (worker != null) {
            worker.probed();
        }
    }

    /**
     * Stops a pod and reports it as Failed, with the reason {@code Evicted}. Interrupts the sync of the pod. Does not
     * block.
     *
     * <p>Of several evictions of a pod, the one with the shortest grace period counts.
     *
     * @return completed when no container of the pod runs any more and its status is set; at once if the node has no such
     *     pod. The same for each call until then
     */
    public CompletableFuture<Void> evict(Eviction eviction) {
        return evictions.begin(
                eviction,
                workers.get(String.valueOf(eviction.pod().getMetadata().getUid())));
    }

    /**
     * Ends the syncs, but stops no container. From now on, no call of the runtime begins that mounts volumes, or starts or
     * stops a container. Interrupts the syncs that run, and waits for them, at most 10 s; a sync that itself calls this is
     * not awaited. Idempotent; a second caller does not wait.
     */
    @Override
    public void close() {
        if (closed.getAndSet(true)) {
            return;
        }
        calls.close();
        hooks.close();
        orphans.close();
        objects.close();
        endSyncs();
    }

    private void endSyncs() {
        Map<PodWorker, CompletableFuture<Void>> ends = new HashMap<>();
        workers.values().forEach(worker -> ends.put(worker, worker.close()));
        try {
            CompletableFuture<Void> all = CompletableFuture.allOf(ends.values().toArray(CompletableFuture[]::new));
            if (!parts.timekeeper().await(all, CLOSE_TIMEOUT)) {
                ends.forEach((worker, end) -> {
                    if (!end.isDone()) {
                        log.warn(
                                "pod {}: a call of the runtime has not returned {} s after its interrupt; closing without"
                                        + " it, no other call follows",
                                KnownPods.name(worker.pod()),
                                CLOSE_TIMEOUT.toSeconds());
                    }
                });
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Stops a pod if it runs; {@link StaticPods#finished} follows. */
    void remove(Pod last) {
        String uid = String.valueOf(last.getMetadata().getUid());
        parts.known().remove(uid);
        PodWorker worker = workers.get(uid);
        if (worker != null) {
            worker.gone(last);
        }
    }

    /** Reports a call of the runtime that does not return. */
    private void hangs(Pod pod, String call) {
        log.warn("pod {}: {}; waiting for it; other pods continue", KnownPods.name(pod), call);
        PodEvent.hanging(call).emit(pod, parts.events());
        parts.statuses().setRuntimeProblem(pod, call);
    }

    /** Syncs a pod, and handles what a sync throws. */
    private final class GuardedSync implements PodWorker.PodSync {

        private final String uid;
        private final PodLifecycle lifecycle;

        /** Made here, because memory may be missing when a sync fails. */
        private final Optional<Duration> retry = Optional.of(parts.periods().failed());

        GuardedSync(String uid, PodLifecycle lifecycle) {
            this.uid = uid;
            this.lifecycle = lifecycle;
        }

        @Override
        public Optional<Duration> sync(Pod pod, boolean gone) {
            // what escapes here is handled by the worker: it syncs again
            try {
                return lifecycle.sync(pod, gone, random);
            } catch (InterruptedException e) {
                log.debug("sync of pod {} was interrupted, because the pod is to end or the agent is closed", uid);
            } catch (IOException | RuntimeException | Error e) {
                // includes Error: a runtime that lacks a class must not end the syncs of the pod
                failed(pod, e);
            }
            return jittered();
        }

        @Override
        public void probed(Pod pod) {
            lifecycle.probed(pod);
        }

        private void failed(Pod pod, Throwable failure) {
            try {
                Level level = closed.get() ? Level.DEBUG : Level.WARN;
                lifecycle.failures().log(level, "sync of pod " + KnownPods.name(pod) + " failed; retrying", failure);
            } catch (Throwable notLogged) {
                // no memory, or a log that fails: the pod is synced again all the same
            }
        }

        private Optional<Duration> jittered() {
            try {
                return Optional.of(SyncPeriods.jittered(parts.periods().failed(), random));
            } catch (Throwable noMemory) {
                return retry;
            }
        }

        @Override
        public void finished() {
            try {
                evictions.ended(uid);
            } finally {
                try {
                    workers.computeIfPresent(uid, (key, worker) -> worker.isFinished() ? null : worker);
                } finally {
                    StaticPods source = staticPods;
                    if (source != null) {
                        source.finished(uid);
                    }
                }
            }
        }
    }
}
