package dev.podcache.object;

import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Any referrer with a subject. Equal to another one of an equal owner, whatever the subjects, and to a {@link PodKey} without
 * one. Immutable.
 */
final class ReferrerOnBehalf implements Referrer {

    final Referrer owner;
    private final Optional<Subject> subject;

    ReferrerOnBehalf(Referrer owner, @Nullable Subject subject) {
        this.owner = Objects.requireNonNull(owner, "owner");
        this.subject = Optional.ofNullable(subject);
    }

    @Override
    public Referrer onBehalfOf(@Nullable Subject newSubject) {
        return new ReferrerOnBehalf(owner, newSubject);
    }

    @Override
    public String uid() {
        return owner.uid();
    }

    @Override
    public String kind() {
        return owner.kind();
    }

    @Override
    public String namespace() {
        return owner.namespace();
    }

    @Override
    public String name() {
        return owner.name();
    }

    @Override
    public boolean isOnBehalf() {
        return true;
    }

    @Override
    public Optional<Subject> subject() {
        return subject;
    }

    /** Compares with no referrer of a user's own: that one does not compare with this class. */
    @Override
    public boolean equals(@Nullable Object other) {
        return this == other
                || (other instanceof ReferrerOnBehalf that && owner.equals(that.owner))
                || (other instanceof PodKey pod && pod.equals(owner));
    }

    @Override
    public int hashCode() {
        return owner.hashCode();
    }

    @Override
    public String toString() {
        return owner.toString();
    }
}
