package dev.podcache.object;

/**
 * Who needs objects, and for as long as it is registered keeps them cached. A pod ({@link PodKey}) is one kind of it; an
 * operator may bring its own, one for each custom resource for example.
 *
 * <p>Two referrers are the same when {@link Object#equals} says so; implementations are immutable, base equality on the
 * {@link #uid()} at least, and have a {@code toString} fit for logs. A referrer that was deleted and created again under the
 * same name is another one.
 */
public interface Referrer {

    /** Unique over space and time, such as {@code metadata.uid}; never empty. */
    String uid();
}
