package dev.podcache.kubelet.podsync;

import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.object.PodKey;
import dev.podcache.pod.PodReferences;
import dev.podcache.time.TaskThreads;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds pods of which the runtime knows a container, but which are no longer to run: they were deleted while no agent was
 * there. Looks for them after each list of the pods, once all sources of pods were read. Thread-safe; only {@link #find}
 * blocks.
 */
final class OrphanedPods {

    private static final Logger log = LoggerFactory.getLogger(PodWorkers.class);

    /** So that the node is not ready 30 s after the call: its status is computed every 10 s. */
    private static final Duration LISTING_HANGS_AFTER = Duration.ofSeconds(15);

    private final PodRuntime runtime;
    private final TaskThreads threads;
    private final Timekeeper timekeeper;
    private final Predicate<String> isKnown;
    private final Consumer<Pod> end;

    private boolean listed; // guarded by this
    private boolean awaitsFiles; // guarded by this
    private volatile @Nullable Long listingSince; // nanoseconds; null while the runtime's pods are not listed

    /**
     * Creates an instance that looks for nothing yet.
     *
     * @param isKnown returns whether the pod with a UID is to run
     * @param end ends a pod; may be called for one that has become known meanwhile
     */
    OrphanedPods(WorkerParts parts, Predicate<String> isKnown, Consumer<Pod> end) {
        this.runtime = parts.runtime();
        this.threads = parts.threads();
        this.timekeeper = parts.timekeeper();
        this.isKnown = isKnown;
        this.end = end;
    }

    /** Looks for no orphans until {@link #filesRead}. */
    synchronized void awaitFiles() {
        awaitsFiles = true;
    }

    /** Tells that the pods that come from files are known. */
    void filesRead() {
        synchronized (this) {
            if (!awaitsFiles) {
                return;
            }
            awaitsFiles = false;
            if (!listed) {
                return;
            }
        }
        look();
    }

    /** Tells that the pods of the API server are known. */
    void listed() {
        synchronized (this) {
            listed = true;
            if (awaitsFiles) {
                return;
            }
        }
        look();
    }

    private void look() {
        threads.submit(() -> {
            endAll();
            return isKnown;
        });
    }

    private void endAll() {
        try {
            for (Pod orphan : find()) {
                log.info("stopping pod {}, which neither the API server nor a file has", PodReferences.key(orphan));
                end.accept(orphan);
            }
        } catch (RuntimeException | Error e) {
            log.warn("the runtime did not list its pods; pods that were deleted meanwhile are not stopped", e);
        }
    }

    /** Returns the pods that only the runtime knows, with their identities alone. Throws what the runtime throws. */
    List<Pod> find() {
        List<PodKey> running;
        listingSince = timekeeper.nanoTime();
        try {
            running = runtime.pods();
        } finally {
            listingSince = null;
        }
        return running.stream()
                .filter(key -> !isKnown.test(key.uid()))
                .map(OrphanedPods::pod)
                .toList();
    }

    private static Pod pod(PodKey key) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace(key.namespace())
                .withName(key.name())
                .withUid(key.uid())
                .endMetadata()
                .withNewSpec()
                .endSpec()
                .build();
    }

    /** Returns that the runtime does not answer when it is asked for its pods; empty if it does. */
    Optional<String> listingProblem() {
        Long since = listingSince;
        if (since == null || timekeeper.nanoTime() - since < LISTING_HANGS_AFTER.toNanos()) {
            return Optional.empty();
        }
        return Optional.of("has not returned for " + LISTING_HANGS_AFTER.toSeconds() + " s");
    }
}
