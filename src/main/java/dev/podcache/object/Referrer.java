package dev.podcache.object;

import io.fabric8.kubernetes.api.model.HasMetadata;

/**
 * Who needs objects, and for as long as it is registered keeps them cached. A pod ({@link PodKey}) is one kind of it;
 * an operator has others, one {@linkplain #of of} each custom resource for example.
 *
 * <p>Two referrers are the same when {@link Object#equals} says so; implementations are immutable, base equality on the
 * {@link #uid()} at least, and have a {@code toString} fit for logs. A referrer that was deleted and created again
 * under the same name is another one.
 */
public interface Referrer {

    /** Unique over space and time, such as {@code metadata.uid}; never empty. */
    String uid();

    /**
     * The referrer that {@code object} is, of whatever kind.
     *
     * @throws IllegalArgumentException if it has no metadata or UID; the message names it
     */
    static Referrer of(HasMetadata object) {
        return ObjectReferrer.of(object);
    }
}
