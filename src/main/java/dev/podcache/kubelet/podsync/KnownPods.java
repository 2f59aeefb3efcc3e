package dev.podcache.kubelet.podsync;

import com.google.common.collect.ImmutableList;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** The pods of our node as the API server last told of them, by UID. Thread-safe. */
public final class KnownPods {

    private final ConcurrentHashMap<String, Pod> pods = new ConcurrentHashMap<>();

    /** The pod as last seen, not to be modified; empty if there is no such pod on our node. */
    public Optional<Pod> get(String uid) {
        return Optional.ofNullable(pods.get(uid));
    }

    /** All, in no order. */
    public ImmutableList<Pod> all() {
        return ImmutableList.copyOf(pods.values());
    }

    void put(String uid, Pod pod) {
        pods.put(uid, pod);
    }

    void remove(String uid) {
        pods.remove(uid);
    }
}
