package dev.podcache.kubelet.podsync;

import dev.podcache.kubelet.podstatus.PodLookup;
import dev.podcache.kubelet.staticpods.MirrorPods;
import dev.podcache.object.ObjectKey;
import dev.podcache.pod.PodOrigin;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** The pods of a node by UID: as the API server last reported them, and static pods. Thread-safe. */
public final class KnownPods {

    private final ConcurrentHashMap<String, Pod> pods = new ConcurrentHashMap<>();

    /** Returns the last known pod with this UID, which must not be modified; empty if the node has no such pod. */
    public Optional<Pod> get(String uid) {
        return Optional.ofNullable(pods.get(uid));
    }

    /** Returns a snapshot of all pods, in no particular order; unmodifiable. Do not modify the pods. */
    public List<Pod> all() {
        return List.copyOf(pods.values());
    }

    /** Returns a lookup in these pods that finds a static pod at the API server by its mirror pod. */
    public PodLookup shownBy(MirrorPods mirrors) {
        return uid -> get(uid).flatMap(pod -> PodOrigin.isStatic(pod) ? mirrors.of(pod) : Optional.of(pod));
    }

    /** Returns the namespace and name of a pod, as log lines show them. */
    static ObjectKey name(Pod pod) {
        return ObjectKey.of(pod.getMetadata().getNamespace(), pod.getMetadata().getName());
    }

    void put(String uid, Pod pod) {
        pods.put(uid, pod);
    }

    void remove(String uid) {
        pods.remove(uid);
    }
}
