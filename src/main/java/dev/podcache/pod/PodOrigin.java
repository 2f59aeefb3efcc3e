package dev.podcache.pod;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where a pod comes from: the API server, or a file of its node. A node shows a pod that comes from a file, a static pod,
 * as a mirror pod at the API server. The methods are pure and thread-safe, provided that the pod is not modified
 * concurrently. The pod must have metadata.
 *
 * <p>Follows {@code pkg/kubelet/types/pod_update.go}.
 */
public enum PodOrigin {
    API_SERVER,
    FILE,
    MIRROR_OF_FILE;

    /** The annotation with the source of a pod: {@code file} or {@code api}. */
    public static final String SOURCE = "kubernetes.io/config.source";

    /** The annotation with the hash of a static pod. */
    public static final String HASH = "kubernetes.io/config.hash";

    /** The annotation of a mirror pod with the hash of its static pod. */
    public static final String MIRROR = "kubernetes.io/config.mirror";

    /** The annotation with the time at which the node first saw a static pod. */
    public static final String SEEN = "kubernetes.io/config.seen";

    private static final String API = "api";

    /** Returns where {@code pod} comes from. */
    public static PodOrigin of(Pod pod) {
        if (annotation(pod, MIRROR) != null) {
            return MIRROR_OF_FILE;
        }
        String source = annotation(pod, SOURCE);
        return source == null || source.equals(API) ? API_SERVER : FILE;
    }

    /** Returns whether the pod comes from a file. A mirror pod is not static: it shows a static pod. */
    public static boolean isStatic(Pod pod) {
        return of(pod) == FILE;
    }

    /** Returns whether the pod only shows a static pod, so that nothing must be done for it. */
    public static boolean isMirror(Pod pod) {
        return of(pod) == MIRROR_OF_FILE;
    }

    /** Returns whether {@code mirror} shows {@code pod} as it is now. Their names must be equal. */
    public static boolean isMirrorOf(Pod mirror, Pod pod) {
        String hash = annotation(pod, HASH);
        return hash != null && hash.equals(annotation(mirror, MIRROR));
    }

    /**
     * Returns {@code pod}, or a copy of it whose annotation says that it comes from the API server. Anybody who may create
     * pods can set that annotation, and so could claim that the pod is static.
     */
    public static Pod fromServer(Pod pod) {
        String source = annotation(pod, SOURCE);
        if (source == null || source.equals(API)) {
            return pod;
        }
        return new PodBuilder(pod)
                .editMetadata()
                .addToAnnotations(SOURCE, API)
                .endMetadata()
                .build();
    }

    private static @Nullable String annotation(Pod pod, String name) {
        Map<String, String> annotations = pod.getMetadata().getAnnotations();
        return annotations == null ? null : annotations.get(name);
    }
}
