package dev.podcache.kubelet.podstatus;

import dev.podcache.object.PodKey;
import dev.podcache.pod.PodEnd;
import dev.podcache.pod.PodOrigin;
import dev.podcache.pod.PodReferences;
import dev.podcache.time.ApiTime;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The newest status of each pod, by UID. Thread-safe; each change of a status is atomic under the lock. */
final class PodStatusCache {

    // Follows updateStatusInternal of pkg/kubelet/status/status_manager.go of Kubernetes. All pods share one version
    // counter, so that versions increase even for a pod that is forgotten and then reappears.

    private static final Logger log = LoggerFactory.getLogger(PodStatusManager.class);

    private final PodLookup known;
    private final Timekeeper timekeeper;
    // ordered by version, so that a pod that changes constantly does not delay the reports of others
    private final Map<String, VersionedPodStatus> byUid = new LinkedHashMap<>(); // guarded by this
    private long lastVersion; // guarded by this

    PodStatusCache(PodLookup known, Timekeeper timekeeper) {
        this.known = known;
        this.timekeeper = timekeeper;
    }

    /**
     * Returns the pod as the API server last reported it, which for a static pod is its mirror pod, or null if it is
     * unknown. Calls a method of the manager's owner, so it must not be called under the lock.
     */
    @Nullable
    Pod atServer(String uid) {
        return known.atServer(uid).orElse(null);
    }

    /** Returns the newest statuses, in the order of their versions. */
    synchronized List<VersionedPodStatus> all() {
        return List.copyOf(byUid.values());
    }

    synchronized @Nullable VersionedPodStatus get(String uid) {
        return byUid.get(uid);
    }

    synchronized void remove(String uid) {
        byUid.remove(uid);
    }

    /** Stores a new status. Like the other modifying methods, returns whether there is a new version to report. */
    boolean set(Pod pod, PodStatus status) {
        return store(
                pod,
                before -> {
                    PodStatus copy = PodParts.copy(status);
                    StatusContinuity.runtimeAnswered(before, copy);
                    return copy;
                },
                PodEnd.isDeleted(pod),
                false);
    }

    /** Adds that a call of the runtime about the pod hangs. */
    boolean setHanging(Pod pod, String call) {
        return store(
                pod,
                before -> {
                    PodStatus copy = PodParts.containers(before).isEmpty()
                            ? PodStatuses.of(pod, PodObservation.nothing())
                            : PodParts.copy(before);
                    RuntimeResponding.hangs(copy, call);
                    return copy;
                },
                false,
                false);
    }

    /** Changes the health of the containers that run, if the pod has a status and has not ended. */
    boolean setHealth(Pod pod, Consumer<ContainerStatus> health) {
        String uid = PodReferences.key(pod).uid();
        VersionedPodStatus cached = get(uid);
        while (cached != null && !PodEnd.isTerminal(cached.status().getPhase())) {
            PodStatus next = PodParts.copy(cached.status());
            // the owner's code, which must not be called under the lock
            PodParts.containers(next).stream().filter(PodParts::isRunning).forEach(health);
            PodStatuses.setReadiness(pod.getSpec(), next);
            StatusContinuity.carryOver(pod, cached.status(), next, ApiTime.of(timekeeper.wallTime()));
            // a probe looks at containers, and not at what has changed in the spec
            next.setObservedGeneration(cached.status().getObservedGeneration());
            PodStatus normalised = PodStatusNormalizer.normalised(pod, next);
            if (PodStatusEquality.equal(cached.status(), normalised)) {
                return false;
            }
            if (replace(cached, normalised)) {
                return true;
            }
            cached = get(uid);
        }
        return false;
    }

    /** Replaces a status, unless there is a newer one. */
    private synchronized boolean replace(VersionedPodStatus cached, PodStatus status) {
        VersionedPodStatus newest = byUid.get(cached.pod().uid());
        boolean isNewest = newest != null && newest.version() == cached.version();
        if (isNewest) {
            putLocked(cached.pod(), status, cached.finished(), cached.isStatic());
        }
        return isNewest;
    }

    boolean terminate(Pod pod) {
        return store(
                pod,
                before -> {
                    PodStatus last = PodParts.copy(before);
                    Termination.end(pod.getSpec(), last);
                    return last;
                },
                true,
                true);
    }

    /**
     * Replaces the cached status by the result of {@code edit}.
     *
     * @param edit receives the cached status, or the one at the API server if there is none; must not modify it
     * @param forced whether to create a new version even if the status is equal to the cached one
     */
    private boolean store(Pod pod, UnaryOperator<PodStatus> edit, boolean forced, boolean finished) {
        PodKey key = PodReferences.key(pod);
        String now = ApiTime.of(timekeeper.wallTime());
        boolean isStatic = PodOrigin.isStatic(pod);
        // what the agent before this one reported of a static pod
        @Nullable Pod mirror = isStatic ? atServer(key.uid()) : null;
        String refusal;
        synchronized (this) {
            VersionedPodStatus cached = byUid.get(key.uid());
            PodStatus before = cached == null ? PodParts.status(mirror == null ? pod : mirror) : cached.status();
            PodStatus next = edit.apply(before);
            refusal = StatusTransitions.refusal(pod.getSpec(), before, next);
            if (refusal == null) {
                StatusContinuity.carryOver(pod, before, next, now);
                PodStatus normalised = PodStatusNormalizer.normalised(pod, next);
                if (cached != null && !forced && PodStatusEquality.equal(cached.status(), normalised)) {
                    return false;
                }
                boolean staysFinished = !isStatic && cached != null && cached.finished();
                putLocked(key, normalised, finished || staysFinished, isStatic);
                return true;
            }
        }
        log.warn("status of pod {} was rejected, the last one stays: {}", key, refusal);
        return false;
    }

    private void putLocked(PodKey pod, PodStatus status, boolean finished, boolean isStatic) {
        lastVersion++;
        byUid.remove(pod.uid());
        byUid.put(pod.uid(), new VersionedPodStatus(pod, lastVersion, status, finished, isStatic));
    }
}
