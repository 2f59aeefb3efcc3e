package dev.podcache.object;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The namespace and name that identify an object within its kind. The namespace is empty for cluster-scoped objects,
 * such as a Node. The text form is {@code namespace/name}. Immutable.
 *
 * <p>Built for a hot path: construction checks nothing and comparison allocates nothing. {@link #validated} rejects
 * names that no API server would accept.
 */
public final class ObjectKey implements Comparable<ObjectKey> {

    // written by hand: the equals and hashCode that a record generates allocate 24 bytes a call

    private final String namespace;
    private final String name;

    private ObjectKey(String namespace, String name) {
        this.namespace = namespace;
        this.name = name;
    }

    /**
     * Returns an unchecked key.
     *
     * @throws NullPointerException if an argument is null
     */
    public static ObjectKey of(String namespace, String name) {
        return new ObjectKey(Objects.requireNonNull(namespace, "namespace"), Objects.requireNonNull(name, "name"));
    }

    /**
     * Returns a key that an API server could accept: the namespace is an RFC 1123 label and the name an RFC 1123
     * subdomain.
     *
     * @throws NullPointerException if an argument is null
     * @throws IllegalArgumentException if an argument is empty or illegal; the message quotes it and says what is
     *     allowed
     */
    public static ObjectKey validated(String namespace, String name) {
        Names.requireLabel("namespace", namespace);
        Names.requireSubdomain("name", name);
        return new ObjectKey(namespace, name);
    }

    /** Returns whether {@link #validated} would accept this key. */
    public boolean isLegal() {
        return Names.isLabel(namespace) && Names.isSubdomain(name);
    }

    /**
     * Returns the key of a cluster-scoped object, such as a Node.
     *
     * @throws NullPointerException if the name is null
     * @throws IllegalArgumentException if the name is empty or illegal; the message quotes it and says what is allowed
     */
    public static ObjectKey validatedClusterScoped(String name) {
        Names.requireSubdomain("name", name);
        return new ObjectKey("", name);
    }

    public String namespace() {
        return namespace;
    }

    public String name() {
        return name;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return this == other
                || (other instanceof ObjectKey that && name.equals(that.name) && namespace.equals(that.namespace));
    }

    @Override
    public int hashCode() {
        return 31 * namespace.hashCode() + name.hashCode();
    }

    /**
     * Orders keys by namespace, then by name. Names are chosen by others, who may give many of them one hash code: a map of
     * the JDK stays fast then if its keys are comparable.
     */
    @Override
    public int compareTo(ObjectKey other) {
        int byNamespace = namespace.compareTo(other.namespace);
        return byNamespace == 0 ? name.compareTo(other.name) : byNamespace;
    }

    /** Returns {@code namespace/name}, or only {@code name} without a namespace. */
    @Override
    public String toString() {
        return namespace.isEmpty() ? name : namespace + "/" + name;
    }
}
