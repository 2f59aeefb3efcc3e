package dev.podcache.object;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * An owner that needs objects and keeps them cached while it is registered: a pod ({@link PodKey}) or, for example, a
 * custom resource of an operator ({@link #of}).
 *
 * <p>Two referrers are one owner if they have the same {@link #uid()}; pods, if they have the same namespace and name too.
 * Implementations are immutable, include the UID in their equality and have a {@code toString} suitable for logs. An owner
 * that is deleted and created again under the same name is a different referrer.
 *
 * <p>With a subject ({@link #onBehalfOf}), an owner reads on behalf of somebody: it reads an object only while the API
 * server says that the subject may get it. The subject is no part of the identity: the one that counts is the one that was
 * registered last.
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
     * Returns the referrer for a Kubernetes object of any kind. It has the object's kind, namespace and name. For a pod, it is
     * its {@link PodKey}: the owner that {@code registerPod} registers.
     *
     * @throws IllegalArgumentException if it has no metadata or UID; the message names it
     */
    static Referrer of(HasMetadata object) {
        return ObjectReferrer.of(object);
    }

    /**
     * Returns the same owner, which reads on behalf of a subject.
     *
     * @param subject null for nobody: then the owner may read nothing
     */
    default Referrer onBehalfOf(@Nullable Subject subject) {
        return new ReferrerOnBehalf(this, subject);
    }

    /** Returns whether this owner reads on behalf of somebody, or of nobody, and not with all rights of the cache. */
    default boolean isOnBehalf() {
        return false;
    }

    /** Returns the subject; empty for an owner that reads on behalf of nobody, and for one without a subject. */
    default Optional<Subject> subject() {
        return Optional.empty();
    }
}
