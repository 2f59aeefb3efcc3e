package dev.podcache.kubelet.podsync;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.kubelet.events.EventRecorder;
import dev.podcache.kubelet.podstatus.PodStatusManager;
import dev.podcache.kubelet.probe.ProbeNetwork;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.manager.Manager;
import dev.podcache.manager.ObjectEvent;
import dev.podcache.object.FailureReason;
import dev.podcache.object.PodKey;
import dev.podcache.pod.PodReferences;
import dev.podcache.reflector.ReflectorSink;
import dev.podcache.time.TaskThreads;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.DoubleSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
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

    /** So that the node is not ready 30 s after the call: its status is computed every 10 s. */
    private static final Duration LISTING_HANGS_AFTER = Duration.ofSeconds(15);

    private final Parts parts;
    private final DoubleSupplier random;
    private final RuntimeCalls calls;
    private final LifecycleHooks hooks;
    private final Map<String, PodWorker> workers = new ConcurrentHashMap<>();
    private final List<AutoCloseable> listeners = new CopyOnWriteArrayList<>();
    private boolean watching; // only used by the reflector's thread
    private volatile boolean closed;
    private volatile @Nullable Long listingSince; // nanoseconds; null while the runtime's pods are not listed

    /**
     * The collaborators of the workers, which do not close them.
     *
     * @param known updated by the workers; {@code statuses} must use the same instance
     * @param health tells which containers are started and ready, and which must be restarted
     * @param network sends the HTTP requests of lifecycle hooks; empty if no hook is to run, because the containers are
     *     not real
     * @param node returns the Node of a pod, for its addresses and allocatable resources; empty if unknown
     * @param threads run the syncs
     */
    public record Parts(
            PodRuntime runtime,
            PodConfiguration configuration,
            ContainerHealth health,
            Optional<ProbeNetwork> network,
            PodStatusManager statuses,
            EventRecorder events,
            KnownPods known,
            Function<Pod, Optional<Node>> node,
            SyncPeriods periods,
            PodListener listener,
            TaskThreads threads,
            Timekeeper timekeeper) {}

    /**
     * Creates workers for no pods.
     *
     * @param random uniform in [0, 1), for the jitter of sync periods
     */
    public PodWorkers(Parts parts, DoubleSupplier random) {
        this.parts = parts;
        this.random = random;
        this.calls = new RuntimeCalls(parts.threads(), parts.timekeeper(), this::hangs);
        RuntimeExec exec = new RuntimeExec(parts.runtime(), parts.threads());
        this.hooks = new LifecycleHooks(exec, parts.network(), parts.timekeeper());
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
                PodWorker worker = workers.get(uid);
                if (worker != null) {
                    remove(worker.pod());
                }
            }
        }
        parts.threads().submit(() -> {
            endOrphans();
            return listed;
        });
    }

    /** Stops pods of which the runtime knows a container, but which the API server no longer has. */
    private void endOrphans() {
        List<PodKey> running;
        listingSince = parts.timekeeper().nanoTime();
        try {
            running = parts.runtime().pods();
        } catch (RuntimeException | Error e) {
            log.warn("the runtime did not list its pods; pods that were deleted meanwhile are not stopped", e);
            return;
        } finally {
            listingSince = null;
        }
        for (PodKey key : running) {
            if (!workers.containsKey(key.uid())) {
                log.info("stopping pod {}, which the API server no longer has", key);
                Pod orphan = new PodBuilder()
                        .withNewMetadata()
                        .withNamespace(key.namespace())
                        .withName(key.name())
                        .withUid(key.uid())
                        .endMetadata()
                        .withNewSpec()
                        .endSpec()
                        .build();
                PodWorker worker = worker(orphan);
                worker.assumeGone();
                if (workers.putIfAbsent(key.uid(), worker) == null) {
                    worker.requestSync();
                }
            }
        }
    }

    /** Returns that the runtime does not answer when it is asked for its pods; empty if it does. Does not block. */
    public Optional<String> listingProblem() {
        Long since = listingSince;
        if (since == null || parts.timekeeper().nanoTime() - since < LISTING_HANGS_AFTER.toNanos()) {
            return Optional.empty();
        }
        return Optional.of("has not returned for " + LISTING_HANGS_AFTER.toSeconds() + " s");
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
            PodWorker added = worker(pod);
            workers.put(uid, added);
            if (closed) {
                // close() may have run before this worker was added
                added.close();
            }
            added.requestSync();
        }
    }

    private PodWorker worker(Pod pod) {
        PodLifecycle lifecycle = new PodLifecycle(parts, calls, hooks);
        GuardedSync sync = new GuardedSync(pod.getMetadata().getUid(), lifecycle);
        return new PodWorker(pod, sync, parts.threads(), parts.timekeeper());
    }

    @Override
    public void delete(Fetched<Pod> last) {
        remove(last.object());
    }

    /**
     * Syncs a pod at once when an object changes that it refers to, until these workers are closed.
     *
     * @param objects the manager of the objects; its strategy must not be GET
     */
    public void follow(Manager<?> objects) {
        listeners.add(objects.listen(parts.timekeeper().workers(), this::objectChanged));
    }

    private void objectChanged(ObjectEvent<?> event) {
        boolean content = event.type() != ObjectEvent.Type.STALE && event.type() != ObjectEvent.Type.RECOVERED;
        if (content) {
            event.referrers().forEach(pod -> changed(pod.uid()));
        }
    }

    /**
     * Syncs a pod at once, because something has changed that the pod does not show: its containers, or an object that
     * it refers to. Ignored if the node has no such pod. Does not block.
     */
    public void changed(String uid) {
        PodWorker worker = workers.get(uid);
        if (worker != null) {
            worker.requestSync();
        }
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
        hooks.close();
        for (AutoCloseable listener : listeners) {
            try {
                listener.close();
            } catch (Exception e) {
                log.warn("a listener of changed objects was not removed; its events have no effect", e);
            }
        }
        workers.values().forEach(PodWorker::close);
    }

    private void remove(Pod last) {
        String uid = String.valueOf(last.getMetadata().getUid());
        parts.known().remove(uid);
        PodWorker worker = workers.get(uid);
        if (worker != null) {
            worker.gone(last);
        }
    }

    /** Reports a call of the runtime that does not return. */
    private void hangs(Pod pod, String call) {
        log.warn("runtime does not respond: {}, for pod {}; other pods go on", call, PodReferences.key(pod));
        PodEvent.hanging(call).emit(pod, parts.events());
        parts.statuses().setRuntimeProblem(pod, call);
    }

    /** Syncs a pod, and handles what a sync throws. */
    private final class GuardedSync implements PodWorker.PodSync {

        private final String uid;
        private final PodLifecycle lifecycle;

        GuardedSync(String uid, PodLifecycle lifecycle) {
            this.uid = uid;
            this.lifecycle = lifecycle;
        }

        @Override
        public Optional<Duration> sync(Pod pod, boolean gone) {
            try {
                return lifecycle.sync(pod, gone, random);
            } catch (InterruptedException e) {
                log.debug("sync of pod {} was interrupted, because the pod is to end", uid);
            } catch (IOException | RuntimeException | Error e) {
                // includes Error: a runtime that lacks a class must not end the syncs of the pod
                log.atLevel(closed ? Level.DEBUG : Level.WARN)
                        .setCause(e)
                        .log(
                                "sync of pod {}/{} failed; retrying",
                                pod.getMetadata().getNamespace(),
                                pod.getMetadata().getName());
            }
            return Optional.of(SyncPeriods.jittered(parts.periods().failed(), random));
        }

        @Override
        public void finished() {
            workers.computeIfPresent(uid, (key, worker) -> worker.isFinished() ? null : worker);
        }
    }
}
