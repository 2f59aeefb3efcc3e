package dev.podcache.kubelet.podstatus;

import com.google.common.collect.ImmutableList;
import dev.podcache.object.PodKey;
import dev.podcache.pod.PodEnd;
import dev.podcache.pod.PodReferences;
import dev.podcache.time.ApiTime;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The newest status of each pod, by UID, beside the pods as they are known from elsewhere. Thread-safe; the lock covers
 * every step from one status to the next.
 */
final class PodStatusCache {

    // After updateStatusInternal of pkg/kubelet/status/status_manager.go of Kubernetes. Versions are counted over all
    // pods, not for each, so that they grow even for a pod that was forgotten and comes back.

    private static final Logger log = LoggerFactory.getLogger(PodStatusManager.class);

    private final Function<String, Optional<Pod>> known;
    private final Timekeeper timekeeper;
    // in the order of their versions, so that a pod that changes all the time stands behind those that wait
    private final Map<String, VersionedPodStatus> byUid = new LinkedHashMap<>(); // guarded by this
    private long lastVersion; // guarded by this

    PodStatusCache(Function<String, Optional<Pod>> known, Timekeeper timekeeper) {
        this.known = known;
        this.timekeeper = timekeeper;
    }

    /** Makes the next status of the cached one, which is null if there is none; null if there is nothing to do. */
    private interface Edit {
        @Nullable
        PodStatus apply(@Nullable PodStatus cached);
    }

    /** The same of a status that is there. */
    private interface StatusChange {
        @Nullable
        PodStatus apply(PodStatus cached);
    }

    /** The pod with that UID as the API server last showed it, if we know it. Called under no lock. */
    @Nullable
    Pod known(String uid) {
        return known.apply(uid).orElse(null);
    }

    /** The newest status, oldest change first. */
    synchronized ImmutableList<VersionedPodStatus> all() {
        return ImmutableList.copyOf(byUid.values());
    }

    synchronized @Nullable VersionedPodStatus get(String uid) {
        return byUid.get(uid);
    }

    synchronized void remove(String uid) {
        byUid.remove(uid);
    }

    /** Takes a new status, and says whether there is now something to report. The same is said by the following. */
    boolean set(Pod pod, PodStatus status) {
        return store(pod, cached -> PodParts.copy(status), PodEnd.isDeleted(pod), false);
    }

    boolean setReady(String uid, String containerId, boolean ready) {
        Pod pod = known(uid);
        return pod != null && change(pod, cached -> ContainerFlags.ready(pod.getSpec(), cached, containerId, ready));
    }

    boolean setStarted(String uid, String containerId, boolean started) {
        Pod pod = known(uid);
        return pod != null && change(pod, cached -> ContainerFlags.started(cached, containerId, started));
    }

    boolean terminate(Pod pod) {
        return store(
                pod,
                cached -> {
                    PodStatus last = PodParts.copy(cached == null ? PodParts.status(pod) : cached);
                    Termination.end(pod.getSpec(), last);
                    return last;
                },
                true,
                true);
    }

    private boolean change(Pod pod, StatusChange edit) {
        return store(pod, cached -> cached == null ? null : edit.apply(cached), false, false);
    }

    private boolean store(Pod pod, Edit edit, boolean forced, boolean finished) {
        PodKey key = PodReferences.key(pod);
        String now = ApiTime.of(timekeeper.wallTime());
        String refusal;
        synchronized (this) {
            VersionedPodStatus cached = byUid.get(key.uid());
            @Nullable PodStatus next = edit.apply(cached == null ? null : cached.status());
            if (next == null) {
                return false;
            }
            PodStatus before = cached == null ? PodParts.status(pod) : cached.status();
            refusal = StatusTransitions.refusal(pod.getSpec(), before, next);
            if (refusal == null) {
                StatusContinuity.take(pod, before, next, now);
                PodStatus normalised = PodStatusNormalizer.normalised(pod, next);
                if (cached != null && !forced && PodStatusEquality.equal(cached.status(), normalised)) {
                    return false;
                }
                putLocked(key, normalised, finished || (cached != null && cached.finished()));
                return true;
            }
        }
        log.warn("a status of pod {} is not taken: {}", key, refusal);
        return false;
    }

    private void putLocked(PodKey key, PodStatus status, boolean finished) {
        lastVersion++;
        byUid.remove(key.uid());
        byUid.put(key.uid(), new VersionedPodStatus(key, lastVersion, status, finished));
    }
}
