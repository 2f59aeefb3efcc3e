package dev.podcache.store;

import dev.podcache.object.Referrer;
import java.util.Objects;

/**
 * The reference of an owner that reads on behalf of somebody. It keeps an object as any reference does, but only reads for
 * such an owner may see an object that has no other references: {@link Store#ifHit} does not return it.
 *
 * @param owner the owner of the reference, or its {@link Unfollowed} reference
 */
public record Restricted(Referrer owner) implements Referrer {

    public Restricted {
        Objects.requireNonNull(owner, "owner");
    }

    @Override
    public String uid() {
        return owner.uid();
    }

    /** Returns the reference without the restriction. */
    static Referrer unrestricted(Referrer referrer) {
        return referrer instanceof Restricted restricted ? restricted.owner : referrer;
    }

    @Override
    public String toString() {
        return owner.toString();
    }
}
