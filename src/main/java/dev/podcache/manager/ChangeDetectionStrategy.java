package dev.podcache.manager;

/**
 * How a cache detects changes of an object: the kubelet's {@code configMapAndSecretChangeDetectionStrategy}, with the
 * same three values.
 */
public enum ChangeDetectionStrategy {
    /** Caches nothing: every get asks the API server. Needs the verb {@code get}. */
    GET,
    /** Asks again when an answer is older than the TTL. Needs the verb {@code get}. */
    CACHE,
    /** Watches each object. Needs the verbs {@code list} and {@code watch}. */
    WATCH
}
