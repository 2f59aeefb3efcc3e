package dev.podcache.object;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The identity of a pod: namespace, name <em>and</em> UID. With the UID, unregistering a deleted pod late does not
 * release the references of its successor of the same name (kubernetes/kubernetes PR 107831). Immutable.
 */
public final class PodKey implements Referrer {

    // written by hand: the equals and hashCode that a record generates allocate 24 bytes a call

    private final String namespace;
    private final String name;
    private final String uid;

    private PodKey(String namespace, String name, String uid) {
        this.namespace = namespace;
        this.name = name;
        this.uid = uid;
    }

    /**
     * Returns the key of a pod.
     *
     * @throws NullPointerException if an argument is null
     * @throws IllegalArgumentException if the UID is empty
     */
    public static PodKey of(String namespace, String name, String uid) {
        Objects.requireNonNull(namespace, "namespace");
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(uid, "uid");
        if (uid.isEmpty()) {
            throw new IllegalArgumentException("pod " + namespace + "/" + name
                    + " has an empty uid: register pods as the API server returned them, with metadata.uid");
        }
        return new PodKey(namespace, name, uid);
    }

    /**
     * Returns the pod that an owner is, with a subject or without; null if the owner was not made from a pod or its key.
     *
     * @throws NullPointerException if {@code owner} is null
     */
    public static @Nullable PodKey ofOwner(Referrer owner) {
        Objects.requireNonNull(owner, "owner");
        Referrer withoutSubject = owner instanceof ReferrerOnBehalf onBehalf ? onBehalf.owner : owner;
        return withoutSubject instanceof PodKey pod ? pod : null;
    }

    @Override
    public String kind() {
        return "Pod";
    }

    @Override
    public String namespace() {
        return namespace;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String uid() {
        return uid;
    }

    /** Compares with a pod that has a subject, too: it is the same owner. */
    @Override
    public boolean equals(@Nullable Object other) {
        return this == other
                || (other instanceof PodKey that
                        && uid.equals(that.uid)
                        && name.equals(that.name)
                        && namespace.equals(that.namespace))
                || (other instanceof ReferrerOnBehalf onBehalf && equals(onBehalf.owner));
    }

    @Override
    public int hashCode() {
        return 31 * (31 * uid.hashCode() + name.hashCode()) + namespace.hashCode();
    }

    /** Returns {@code namespace/name(uid)}. */
    @Override
    public String toString() {
        return namespace + "/" + name + "(" + uid + ")";
    }
}
