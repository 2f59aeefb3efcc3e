package dev.podcache.object;

import java.util.Objects;

/**
 * An object and the usage that it is needed for.
 *
 * @param key the object
 * @param usage what it is needed for
 */
public record Reference(ObjectKey key, Usage usage) implements Comparable<Reference> {

    public Reference {
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(usage, "usage");
    }

    /** Orders references by key, then by usage; see {@link ObjectKey#compareTo}. */
    @Override
    public int compareTo(Reference other) {
        int byKey = key.compareTo(other.key);
        return byKey == 0 ? usage.compareTo(other.usage) : byKey;
    }
}
