package dev.podcache.embedded;

import dev.podcache.object.ObjectKey;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Selects the requests that a fault affects. Each condition narrows the selection; a pattern without conditions matches
 * all requests for objects. Immutable.
 */
public final class RequestPattern {

    private static final RequestPattern ANY = new RequestPattern(null, null, "", "");

    private final @Nullable Verb verb;
    private final @Nullable Resource resource;
    private final String namespace;
    private final String name;

    private RequestPattern(@Nullable Verb verb, @Nullable Resource resource, String namespace, String name) {
        this.verb = verb;
        this.resource = resource;
        this.namespace = Objects.requireNonNull(namespace, "namespace");
        this.name = Objects.requireNonNull(name, "name");
    }

    /** Returns a pattern that matches all requests for objects. */
    public static RequestPattern any() {
        return ANY;
    }

    /** Returns this pattern, restricted to a verb. */
    public RequestPattern verb(Verb only) {
        return new RequestPattern(Objects.requireNonNull(only, "verb"), resource, namespace, name);
    }

    /** Returns this pattern, restricted to a resource. */
    public RequestPattern resource(Resource only) {
        return new RequestPattern(verb, Objects.requireNonNull(only, "resource"), namespace, name);
    }

    /** Returns this pattern, restricted to a namespace. A request over all namespaces does not match. */
    public RequestPattern namespace(String only) {
        return new RequestPattern(verb, resource, only, name);
    }

    /**
     * Returns this pattern, restricted to one object. Lists and watches that select the object by its name match, too.
     */
    public RequestPattern key(ObjectKey only) {
        return new RequestPattern(verb, resource, only.namespace(), only.name());
    }

    /** Returns whether the request meets all conditions. */
    public boolean matches(ApiRequest request) {
        return (verb == null || verb == request.verb())
                && (resource == null || resource.equals(request.resource()))
                && (namespace.isEmpty() || namespace.equals(request.key().namespace()))
                && (name.isEmpty() || name.equals(request.key().name()));
    }
}
