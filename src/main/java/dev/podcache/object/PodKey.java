package dev.podcache.object;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Which pod: namespace, name <em>and</em> UID, so that the late farewell of a deleted pod cannot touch what its
 * successor of the same name holds (kubernetes/kubernetes PR 107831). Immutable.
 */
public final class PodKey implements Referrer {

    // equals and hashCode are written by hand: those that a record generates cost 24 bytes a call

    private final String namespace;
    private final String name;
    private final String uid;

    private PodKey(String namespace, String name, String uid) {
        this.namespace = namespace;
        this.name = name;
        this.uid = uid;
    }

    /**
     * The key of the pod with that name and UID.
     *
     * @throws NullPointerException if any is null
     * @throws IllegalArgumentException if the uid is empty
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

    public String namespace() {
        return namespace;
    }

    public String name() {
        return name;
    }

    @Override
    public String uid() {
        return uid;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return this == other
                || (other instanceof PodKey that
                        && uid.equals(that.uid)
                        && name.equals(that.name)
                        && namespace.equals(that.namespace));
    }

    @Override
    public int hashCode() {
        return 31 * (31 * uid.hashCode() + name.hashCode()) + namespace.hashCode();
    }

    /** {@code namespace/name(uid)}. */
    @Override
    public String toString() {
        return namespace + "/" + name + "(" + uid + ")";
    }
}
