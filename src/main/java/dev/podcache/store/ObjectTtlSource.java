package dev.podcache.store;

/**
 * For how long an answer of the API server counts as fresh, now. Asked ten times a second and at every get that misses,
 * so both methods return at once, without a lock and without parsing: implementations parse when the source changes.
 * Thread-safe.
 *
 * <p>Follows {@code GetObjectTTLFunc} of the kubelet's {@code
 * pkg/kubelet/util/manager/cache_based_manager.go}, with the default folded in.
 */
public interface ObjectTtlSource {

    /** The time to live in nanoseconds, at least 0; 0 means that no answer is ever fresh. */
    long ttlNanos();

    /**
     * Where that comes from, for people, such as {@code default, Node worker-1 has no annotation
     * node.alpha.kubernetes.io/ttl}.
     */
    String origin();
}
