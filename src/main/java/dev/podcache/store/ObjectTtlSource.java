package dev.podcache.store;

/**
 * Provides how long an answer of the API server counts as fresh. Called ten times a second and at every cache miss, so
 * both methods return at once, without a lock or parsing: implementations parse when the source changes. Thread-safe.
 *
 * <p>Follows {@code GetObjectTTLFunc} of the kubelet's {@code pkg/kubelet/util/manager/cache_based_manager.go}, with
 * the default included.
 */
public interface ObjectTtlSource {

    /** Returns the TTL in nanoseconds, at least 0; 0 means that no answer is ever fresh. */
    long ttlNanos();

    /**
     * Returns where the TTL comes from, as text for people, such as {@code default, Node worker-1 has no annotation
     * node.alpha.kubernetes.io/ttl}.
     */
    String origin();
}
