package dev.podcache.object;

import io.fabric8.kubernetes.api.model.HasMetadata;

/**
 * An owner that needs objects and keeps them cached while it is registered: a pod ({@link PodKey}) or, for example, a
 * custom resource of an operator ({@link #of}).
 *
 * <p>Two referrers are the same if {@link Object#equals} says so. Implementations are immutable, include the {@link
 * #uid()} in their equality and have a {@code toString} suitable for logs. An owner that is deleted and created again
 * under the same name is a different referrer.
 */
public interface Referrer {

    /** Returns an identifier that is unique over space and time, such as {@code metadata.uid}; never empty. */
    String uid();

    /** Returns the kind of the owner as in manifests, such as {@code Database}; "" if it is not a Kubernetes object. */
    default String kind() {
        return "";
    }

    /** Returns the namespace of the owner; "" if it has none. */
    default String namespace() {
        return "";
    }

    /** Returns the name of the owner; "" if it is not a Kubernetes object. */
    default String name() {
        return "";
    }

    /**
     * Returns the referrer for a Kubernetes object of any kind. It has the object's kind, namespace and name.
     *
     * @throws IllegalArgumentException if it has no metadata or UID; the message names it
     */
    static Referrer of(HasMetadata object) {
        return ObjectReferrer.of(object);
    }
}
