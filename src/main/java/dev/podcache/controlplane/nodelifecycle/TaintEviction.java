package dev.podcache.controlplane.nodelifecycle;

import dev.podcache.controlplane.cluster.ClusterCache;
import dev.podcache.controlplane.cluster.ClusterListener;
import dev.podcache.controlplane.cluster.ObservedNode;
import dev.podcache.controlplane.cluster.ObservedPod;
import dev.podcache.object.ObjectKey;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Taint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Deletes the pods that do not tolerate a NoExecute taint of their node: at once, or when the time that their tolerations
 * allow has passed. The time counts from the first taint that limits it; later changes can only shorten it, or cancel
 * the deletion. Used by tasks of the cache's loop only.
 */
final class TaintEviction implements ClusterListener {

    /*
     * After pkg/controller/tainteviction of Kubernetes, with two differences. A deadline that becomes earlier counts;
     * upstream keeps the one that was scheduled first. A failed deletion is repeated until it succeeds; upstream gives
     * up after five tries, until the node or the pod changes.
     */

    private final ClusterCache cache;
    private final LifecycleEvents events;
    private final PodDeletion deletion;
    private final Map<String, List<Taint>> tainted = new HashMap<>();
    private final Map<ObjectKey, ScheduledDeletion> evictions = new HashMap<>();

    TaintEviction(ClusterCache cache, LifecycleEvents events, PodDeletion deletion) {
        this.cache = cache;
        this.events = events;
        this.deletion = deletion;
    }

    /** The scheduled or begun deletion of a pod. */
    private static final class ScheduledDeletion {

        final ObservedPod pod;
        final long dueAt;
        Timekeeper.@Nullable Scheduled timer; // null once the deletion has begun

        ScheduledDeletion(ObservedPod pod, long dueAt) {
            this.pod = pod;
            this.dueAt = dueAt;
        }
    }

    @Override
    public void nodeAdded(ObservedNode node) {
        taintsChanged(node.name(), Tolerations.noExecute(node.taints()));
    }

    @Override
    public void nodeChanged(ObservedNode before, ObservedNode now) {
        if (!before.taints().isEmpty() || !now.taints().isEmpty()) {
            List<Taint> taints = Tolerations.noExecute(now.taints());
            if (!taints.equals(Tolerations.noExecute(before.taints()))) {
                taintsChanged(now.name(), taints);
            }
        }
    }

    @Override
    public void nodeDeleted(ObservedNode last) {
        tainted.remove(last.name());
    }

    @Override
    public void podChanged(@Nullable ObservedPod before, ObservedPod now) {
        if (before != null && !before.uid().equals(now.uid())) {
            cancel(before);
        } else if (before != null
                && before.tolerations().equals(now.tolerations())
                && before.node().equals(now.node())) {
            return;
        }
        List<Taint> taints = tainted.get(now.node());
        if (taints != null) {
            decide(now, taints);
        }
    }

    @Override
    public void podDeleted(ObservedPod last) {
        cancel(last);
    }

    /** Returns when the pod is due to be deleted, in nanoseconds; null if that is not planned. For tests. */
    @Nullable
    Long dueAt(ObjectKey pod) {
        ScheduledDeletion eviction = evictions.get(pod);
        return eviction == null ? null : eviction.dueAt;
    }

    private void taintsChanged(String node, List<Taint> taints) {
        List<ObservedPod> pods = new ArrayList<>(cache.podsOf(node));
        if (taints.isEmpty()) {
            tainted.remove(node);
            pods.forEach(this::cancel);
        } else {
            tainted.put(node, taints);
            pods.forEach(pod -> decide(pod, taints));
        }
    }

    private void decide(ObservedPod pod, List<Taint> taints) {
        Optional<Duration> stay = Tolerations.stay(taints, pod.tolerations());
        if (stay.isPresent() && stay.get().equals(Tolerations.FOREVER)) {
            cancel(pod);
        } else if (!pod.isBeingDeleted()) {
            delete(pod, stay.orElse(Duration.ZERO));
        }
    }

    private void delete(ObservedPod pod, Duration stay) {
        long dueAt = deadline(stay);
        ScheduledDeletion known = evictions.get(pod.key());
        Timekeeper.Scheduled timer = known == null ? null : known.timer;
        if (known != null && (timer == null || known.dueAt <= dueAt)) {
            return;
        }
        if (timer != null) {
            timer.cancel();
        }
        ScheduledDeletion eviction = new ScheduledDeletion(pod, dueAt);
        evictions.put(pod.key(), eviction);
        if (stay.isZero()) {
            begin(eviction);
        } else {
            eviction.timer = cache.loop().schedule(stay, () -> begin(eviction));
        }
    }

    private long deadline(Duration stay) {
        Duration longest = Duration.ofDays(36_500);
        return cache.loop().timekeeper().nanoTime() + (stay.compareTo(longest) > 0 ? longest : stay).toNanos();
    }

    private void begin(ScheduledDeletion eviction) {
        eviction.timer = null;
        events.evicted(eviction.pod);
        deletion.delete(eviction.pod, () -> evictions.get(eviction.pod.key()) == eviction);
    }

    private void cancel(ObservedPod pod) {
        ScheduledDeletion eviction = evictions.remove(pod.key());
        if (eviction != null && eviction.timer != null) {
            eviction.timer.cancel();
            events.evictionCancelled(pod);
        }
    }
}
