package dev.podcache.object;

import com.google.common.collect.ComparisonChain;
import com.google.common.collect.Ordering;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A reference to one object of any kind: kind, namespace and name, and what the object is needed for. The namespace is
 * empty for kinds without one. Names are not checked here. Immutable.
 */
public final class ObjectRef implements Comparable<ObjectRef> {

    private final ObjectKind<?> kind;
    private final ObjectKey key;
    private final @Nullable Usage usage;

    private ObjectRef(ObjectKind<?> kind, ObjectKey key, @Nullable Usage usage) {
        this.kind = Objects.requireNonNull(kind, "kind");
        this.key = key;
        this.usage = usage;
    }

    /**
     * Returns a reference to an object.
     *
     * @param namespace empty for a kind without namespaces
     */
    public static ObjectRef of(ObjectKind<?> kind, String namespace, String name) {
        return of(kind, ObjectKey.of(namespace, name));
    }

    /** Returns a reference to an object. */
    public static ObjectRef of(ObjectKind<?> kind, ObjectKey key) {
        return new ObjectRef(kind, Objects.requireNonNull(key, "key"), null);
    }

    /** Returns a reference to the same object that says what it is needed for. */
    public ObjectRef withUsage(Usage newUsage) {
        return new ObjectRef(kind, key, Objects.requireNonNull(newUsage, "usage"));
    }

    public ObjectKind<?> kind() {
        return kind;
    }

    public ObjectKey key() {
        return key;
    }

    public String namespace() {
        return key.namespace();
    }

    public String name() {
        return key.name();
    }

    /** Returns what the object is needed for, if the reference says so. */
    public Optional<Usage> usage() {
        return Optional.ofNullable(usage);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ObjectRef that && kind.equals(that.kind) && key.equals(that.key) && usage == that.usage;
    }

    @Override
    public int hashCode() {
        return Objects.hash(kind, key, usage);
    }

    /** Orders references by their kind, then by key, then by usage; see {@link ObjectKey#compareTo}. */
    @Override
    public int compareTo(ObjectRef other) {
        return ComparisonChain.start()
                .compare(kind.toString(), other.kind.toString())
                .compare(kind.apiVersion(), other.kind.apiVersion())
                .compare(kind.plural(), other.kind.plural())
                .compare(key, other.key)
                .compare(usage, other.usage, Ordering.natural().nullsFirst())
                .result();
    }

    /** Returns kind, namespace and name, such as {@code Secret shop/db}. */
    @Override
    public String toString() {
        return kind + " " + key;
    }
}
