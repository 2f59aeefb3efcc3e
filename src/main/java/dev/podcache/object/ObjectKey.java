package dev.podcache.object;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The name of one object within its kind: namespace and name. The namespace is empty for objects of the whole cluster,
 * such as a Node. The text form is {@code namespace/name}. Immutable.
 *
 * <p>Built for lookups on a hot path: a key is created per get, so neither construction nor comparison allocates or
 * checks anything. Names that no API server would accept are found by {@link #validated}.
 */
public final class ObjectKey {

    // equals and hashCode are written by hand: those that a record generates cost 24 bytes a call

    private final String namespace;
    private final String name;

    private ObjectKey(String namespace, String name) {
        this.namespace = namespace;
        this.name = name;
    }

    /**
     * A key as it is, unchecked.
     *
     * @throws NullPointerException if either is null
     */
    public static ObjectKey of(String namespace, String name) {
        return new ObjectKey(Objects.requireNonNull(namespace, "namespace"), Objects.requireNonNull(name, "name"));
    }

    /**
     * A key that an API server could know: a namespace that is an RFC 1123 label and a name
     * that is an RFC 1123 subdomain.
     *
     * @throws NullPointerException if either is null
     * @throws IllegalArgumentException if either is empty or illegal; the message quotes it and says what is allowed
     */
    public static ObjectKey validated(String namespace, String name) {
        Names.requireLabel("namespace", namespace);
        Names.requireSubdomain("name", name);
        return new ObjectKey(namespace, name);
    }

    /** Whether an API server could know this key: whether {@link #validated} would accept it. */
    public boolean isLegal() {
        return Names.isLabel(namespace) && Names.isSubdomain(name);
    }

    /** Whether an API server could know an object of that name. */
    static boolean isLegalName(String name) {
        return Names.isSubdomain(name);
    }

    /**
     * The key of an object of the whole cluster, such as a Node.
     *
     * @throws NullPointerException if the name is null
     * @throws IllegalArgumentException if it is empty or illegal; the message quotes it and says what is allowed
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

    /** {@code namespace/name}, or {@code name} alone where there is no namespace. */
    @Override
    public String toString() {
        return namespace.isEmpty() ? name : namespace + "/" + name;
    }
}
