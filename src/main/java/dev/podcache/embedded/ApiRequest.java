package dev.podcache.embedded;

import dev.podcache.object.ObjectKey;
import java.util.Objects;

/**
 * The verb, resource and key of a request: what {@link RequestPattern} matches and logs show.
 *
 * @param key the key of the object. For a list, watch or create: the namespace, or "" for all namespaces, and the one
 *     name that the request selects, or ""
 */
public record ApiRequest(Verb verb, Resource resource, ObjectKey key) {

    public ApiRequest {
        Objects.requireNonNull(verb, "verb");
        Objects.requireNonNull(resource, "resource");
        Objects.requireNonNull(key, "key");
    }
}
