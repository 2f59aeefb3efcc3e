package dev.podcache.object;

import java.util.Objects;

/**
 * An object and the usage that it is needed for.
 *
 * @param key the object
 * @param usage what it is needed for
 */
public record Reference(ObjectKey key, Usage usage) {

    public Reference {
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(usage, "usage");
    }
}
