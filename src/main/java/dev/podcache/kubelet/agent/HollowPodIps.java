package dev.podcache.kubelet.agent;

import com.google.common.collect.BiMap;
import com.google.common.collect.HashBiMap;
import com.google.common.net.InetAddresses;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Gives pods addresses from 10.0.0.0/9. An address is in use while its pod exists at the API server; those of pods that
 * an earlier process ran are in use, too. Thread-safe.
 */
final class HollowPodIps {

    private static final int FIRST = 0x0A00_0001;
    private static final int LAST = 0x0A7F_FFFE;

    private final BiMap<String, String> inUse = HashBiMap.create(); // by the UID of the pod; guarded by this
    private int next; // guarded by this

    HollowPodIps() {
        this(FIRST);
    }

    /** @param next the address that is tried first */
    HollowPodIps(int next) {
        this.next = next;
    }

    /** Tells which pods exist. */
    synchronized void listed(List<Pod> pods) {
        Set<String> existing = pods.stream().map(HollowPodIps::uid).collect(Collectors.toSet());
        inUse.keySet().retainAll(existing);
        for (Pod pod : pods) {
            if (pod.getStatus() != null && pod.getStatus().getPodIP() != null) {
                inUse.forcePut(uid(pod), pod.getStatus().getPodIP());
            }
        }
    }

    /** Tells that a pod does not exist any more. */
    synchronized void deleted(Pod pod) {
        inUse.remove(uid(pod));
    }

    /** Returns the address of a new pod. */
    synchronized String of(Pod pod) {
        String address = nextLocked();
        while (inUse.containsValue(address)) {
            address = nextLocked();
        }
        inUse.put(uid(pod), address);
        return address;
    }

    private String nextLocked() {
        int address = next;
        next = address == LAST ? FIRST : address + 1;
        return InetAddresses.toAddrString(InetAddresses.fromInteger(address));
    }

    private static String uid(Pod pod) {
        return String.valueOf(pod.getMetadata().getUid());
    }
}
