package dev.podcache.manager;

/**
 * How a cache learns that an object has changed: the kubelet's {@code
 * configMapAndSecretChangeDetectionStrategy}, with the same three values.
 */
public enum ChangeDetectionStrategy {
    /** It does not: every get asks the API server. ObjectNeeds the verb {@code get}. */
    GET,
    /** It asks again when an answer is older than the TTL. ObjectNeeds the verb {@code get}. */
    CACHE,
    /** The API server tells it: one watch for each object. ObjectNeeds the verbs {@code list} and {@code watch}. */
    WATCH
}
