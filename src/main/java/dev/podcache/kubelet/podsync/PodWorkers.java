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
 * The pods of our node, each with a worker of its own: where a watch of {@code spec.nodeName} leads. A pod is its UID,
 * so one that was deleted and another of the same name are brought to their end, and to life, independently. Told by
 * one thread at a time; never blocks it.
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
    private boolean following; // of the one thread that tells us
    private volatile boolean closed;

    /**
     * What workers work with, none of which is closed here.
     *
     * @param known kept up to date by the workers; what {@code statuses} were made with
     * @param node our own Node, for addresses and allocatable resources
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
     * Workers without pods.
     *
     * @param threads not shut down here
     * @param random uniform in [0, 1), for the jitter of pauses
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
        } catch (IllegalArgumentException unusable) {
            log.warn("a pod of this node is left alone: {}", unusable.getMessage());
            return;
        }
        String uid = pod.getMetadata().getUid();
        parts.known().put(uid, pod);
        PodWorker worker = workers.get(uid);
        if (worker == null || !worker.changed(pod)) {
            PodWorker added = new PodWorker(pod, new PodQueue(uid, new PodLifecycle(parts)), threads, timekeeper);
            workers.put(uid, added);
            if (closed) {
                // close() may have looked through the workers before this one was among them
                added.close();
            }
            added.begin();
        }
    }

    @Override
    public void delete(Fetched<Pod> last) {
        remove(String.valueOf(last.object().getMetadata().getUid()));
    }

    @Override
    public void connected() {
        following = true;
    }

    @Override
    public void disconnected(ApiServerException cause) {
        if (following && cause.reason() != FailureReason.EXPIRED) {
            log.warn("the pods of this node cannot be followed, trying on: {}", cause.getMessage());
        }
        following = false;
    }

    /**
     * Begins no turn from now on; what runs is not waited for, and nothing is stopped: the pods outlive us. Idempotent.
     */
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

    private final class PodQueue implements PodWorker.PodTurns {

        private final String uid;
        private final PodLifecycle lifecycle;

        PodQueue(String uid, PodLifecycle lifecycle) {
            this.uid = uid;
            this.lifecycle = lifecycle;
        }

        /** A pause is up to half as long again. */
        @Override
        public Optional<Duration> take(Pod pod, boolean gone) {
            return attempt(pod, gone)
                    .map(pause -> pause.plusNanos((long) (pause.toNanos() * random.getAsDouble() / 2)));
        }

        private Optional<Duration> attempt(Pod pod, boolean gone) {
            try {
                return lifecycle.take(pod, gone);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (RuntimeException | Error e) {
                // an Error too: a runtime that lacks a class must not leave the pod alone for good
                log.atLevel(closed ? Level.DEBUG : Level.WARN)
                        .setCause(e)
                        .log(
                                "pod {}/{} was not synced, trying again",
                                pod.getMetadata().getNamespace(),
                                pod.getMetadata().getName());
            }
            return Optional.of(parts.periods().failed());
        }

        @Override
        public void over() {
            workers.computeIfPresent(uid, (same, worker) -> worker.isOver() ? null : worker);
        }
    }
}
