package dev.podcache.kubelet.podsync;

import dev.podcache.pod.PodEnd;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Objects;

/** Which changes of a pod are a reason to sync it. Pure. */
final class PodChange {

    private PodChange() {}

    /**
     * Whether {@code now} asks for something else than {@code before}: our own reports come back to us, and must not.
     */
    static boolean matters(Pod before, Pod now) {
        ObjectMeta was = before.getMetadata();
        ObjectMeta is = now.getMetadata();
        return !Objects.equals(was.getDeletionTimestamp(), is.getDeletionTimestamp())
                || !Objects.equals(was.getDeletionGracePeriodSeconds(), is.getDeletionGracePeriodSeconds())
                || !Objects.equals(was.getLabels(), is.getLabels())
                || !Objects.equals(was.getAnnotations(), is.getAnnotations())
                || !Objects.equals(before.getSpec(), now.getSpec())
                || (PodEnd.isTerminal(now) && !PodEnd.isTerminal(before));
    }
}
