package dev.podcache.object;

import java.util.Objects;

/**
 * One need: an object, and what for.
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
