package dev.podcache.kubelet.podsync;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.kubelet.events.EventRecorder;
import dev.podcache.kubelet.podstatus.PodStatusManager;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.object.FailureReason;
import dev.podcache.pod.PodReferences;
import dev.podcache.reflector.ReflectorSink;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.DoubleSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Runs the pods of a node, each with a worker of its own. Receives the pods from a reflector that selects them by
 * {@code spec.nodeName}. A pod is identified by its UID, so a deleted pod and its successor of the same name stop and
 * start independently. The reflector's methods must be called by one thread at a time; none of them blocks.
 *
 * <p>Follows the kubelet's {@code pod_workers.go}.
 */
public final class PodWorkers implements ReflectorSink<Pod>, AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(PodWorkers.class);

    private final Parts parts;
    private final PodThreads threads;
    private final Timekeeper timekeeper;
    private final DoubleSupplier random;
    private final Map<String, PodWorker> workers = new ConcurrentHashMap<>();
    private boolean watching; // only used by the reflector's thread
    private volatile boolean closed;

    /**
     * The collaborators of the workers, which do not close them.
     *
     * @param known updated by the workers; {@code statuses} must use the same instance
     * @param node returns the node's Node object, for its addresses and allocatable resources; empty if unknown
     */
    public record Parts(
            PodRuntime runtime,
            PodConfiguration configuration,
            PodStatusManager statuses,
            EventRecorder events,
            KnownPods known,
            Supplier<Optional<Node>> node,
            SyncPeriods periods,
            PodListener listener) {}

    /**
     * Creates workers for no pods.
     *
     * @param threads run the syncs; not shut down by the workers
     * @param random uniform in [0, 1), for the jitter of sync periods
     */
    public PodWorkers(Parts parts, PodThreads threads, Timekeeper timekeeper, DoubleSupplier random) {
        this.parts = parts;
        this.threads = threads;
        this.timekeeper = timekeeper;
        this.random = random;
    }

    @Override
    public void replace(List<Fetched<Pod>> items, String resourceVersion) {
        Set<String> listed = new HashSet<>();
        for (Fetched<Pod> item : items) {
            upsert(item);
            listed.add(String.valueOf(item.object().getMetadata().getUid()));
        }
        for (String uid : Set.copyOf(workers.keySet())) {
            if (!listed.contains(uid)) {
                remove(uid);
            }
        }
    }

    @Override
    public void upsert(Fetched<Pod> fetched) {
        Pod pod = fetched.object();
        try {
            PodReferences.key(pod);
        } catch (IllegalArgumentException e) {
            log.warn("a pod of this node was ignored: {}", e.getMessage());
            return;
        }
        String uid = pod.getMetadata().getUid();
        parts.known().put(uid, pod);
        PodWorker worker = workers.get(uid);
        if (worker == null || !worker.changed(pod)) {
            PodWorker added = new PodWorker(pod, new GuardedSync(uid, new PodLifecycle(parts)), threads, timekeeper);
            workers.put(uid, added);
            if (closed) {
                // close() may have run before this worker was added
                added.close();
            }
            added.requestSync();
        }
    }

    @Override
    public void delete(Fetched<Pod> last) {
        remove(String.valueOf(last.object().getMetadata().getUid()));
    }

    @Override
    public void connected() {
        watching = true;
    }

    @Override
    public void disconnected(ApiServerException cause) {
        if (watching && cause.reason() != FailureReason.EXPIRED) {
            log.warn("watch of the pods of this node failed; retrying: {}", cause.getMessage());
        }
        watching = false;
    }

    /** Starts no further sync. Does not wait for running syncs, and does not stop the pods. Idempotent. */
    @Override
    public void close() {
        closed = true;
        workers.values().forEach(PodWorker::close);
    }

    private void remove(String uid) {
        parts.known().remove(uid);
        PodWorker worker = workers.get(uid);
        if (worker != null) {
            worker.gone();
        }
    }

    /** Syncs a pod, handles what a sync throws, and extends the period to the next sync at random. */
    private final class GuardedSync implements PodWorker.PodSync {

        private final String uid;
        private final PodLifecycle lifecycle;

        GuardedSync(String uid, PodLifecycle lifecycle) {
            this.uid = uid;
            this.lifecycle = lifecycle;
        }

        @Override
        public Optional<Duration> sync(Pod pod, boolean gone) {
            return attempt(pod, gone)
                    .map(period -> period.plusNanos((long) (period.toNanos() * random.getAsDouble() / 2)));
        }

        private Optional<Duration> attempt(Pod pod, boolean gone) {
            try {
                return lifecycle.sync(pod, gone);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (IOException | RuntimeException | Error e) {
                // includes Error: a runtime that lacks a class must not end the syncs of the pod
                log.atLevel(closed ? Level.DEBUG : Level.WARN)
                        .setCause(e)
                        .log(
                                "sync of pod {}/{} failed; retrying",
                                pod.getMetadata().getNamespace(),
                                pod.getMetadata().getName());
            }
            return Optional.of(parts.periods().failed());
        }

        @Override
        public void finished() {
            workers.computeIfPresent(uid, (key, worker) -> worker.isFinished() ? null : worker);
        }
    }
}
