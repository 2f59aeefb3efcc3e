package dev.podcache.embedded;

import dev.podcache.object.ObjectKey;
import java.util.Objects;

/**
 * What a request is about, as far as faults and logs care.
 *
 * @param key of a list, a watch or a create: the namespace, or "" for all of them, and the one
 *     name that is asked for, or ""
 */
public record ApiRequest(Verb verb, Resource resource, ObjectKey key) {

    public ApiRequest {
        Objects.requireNonNull(verb, "verb");
        Objects.requireNonNull(resource, "resource");
        Objects.requireNonNull(key, "key");
    }
}
