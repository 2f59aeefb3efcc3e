package dev.podcache.store;

import dev.podcache.object.Referrer;
import java.util.Objects;

/**
 * The reference of an owner that needs an object as it was when the reference was added, and not its later changes. If
 * all references to an object are of this type, strategy WATCH does not watch it once it exists. The other strategies
 * ignore the type.
 *
 * @param owner the owner of the reference, which {@link KnownObject#referrers} returns
 */
public record Unfollowed(Referrer owner) implements Referrer {

    public Unfollowed {
        Objects.requireNonNull(owner, "owner");
    }

    @Override
    public String uid() {
        return owner.uid();
    }

    /** Returns whether a reference is of this type, restricted or not. */
    static boolean isUnfollowed(Referrer referrer) {
        return Restricted.unrestricted(referrer) instanceof Unfollowed;
    }

    /** Returns the owner behind a reference. */
    static Referrer ownerOf(Referrer referrer) {
        Referrer unrestricted = Restricted.unrestricted(referrer);
        return unrestricted instanceof Unfollowed unfollowed ? unfollowed.owner : unrestricted;
    }

    @Override
    public String toString() {
        return owner.toString();
    }
}
