package dev.podcache.store;

import dev.podcache.object.Referrer;
import java.util.Objects;

/**
 * The reference of an owner that needs an object as it is when it is referenced, and not its changes. Strategy WATCH does
 * not watch an object that has no other references once it exists; the other strategies make no difference.
 *
 * @param owner who refers to the object, as {@link KnownObject#referrers} returns it
 */
public record Unfollowed(Referrer owner) implements Referrer {

    public Unfollowed {
        Objects.requireNonNull(owner, "owner");
    }

    @Override
    public String uid() {
        return owner.uid();
    }

    /** Returns the owner behind a reference. */
    static Referrer ownerOf(Referrer referrer) {
        return referrer instanceof Unfollowed unfollowed ? unfollowed.owner : referrer;
    }

    @Override
    public String toString() {
        return owner.toString();
    }
}
