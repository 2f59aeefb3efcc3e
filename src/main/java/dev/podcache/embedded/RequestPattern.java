package dev.podcache.embedded;

import dev.podcache.object.ObjectKey;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Which requests a fault concerns. Each condition narrows it down; none means all requests for objects. Immutable. */
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

    /** All requests for objects. */
    public static RequestPattern any() {
        return ANY;
    }

    /** Of these, the ones with that verb. */
    public RequestPattern verb(Verb only) {
        return new RequestPattern(Objects.requireNonNull(only, "verb"), resource, namespace, name);
    }

    /** Of these, the ones for that resource. */
    public RequestPattern resource(Resource only) {
        return new RequestPattern(verb, Objects.requireNonNull(only, "resource"), namespace, name);
    }

    /** Of these, the ones in that namespace; a request over all namespaces is none of them. */
    public RequestPattern namespace(String only) {
        return new RequestPattern(verb, resource, only, name);
    }

    /** Of these, the ones for one object, also lists and watches that select it by its name. */
    public RequestPattern key(ObjectKey only) {
        return new RequestPattern(verb, resource, only.namespace(), only.name());
    }

    /** Whether it concerns the request. */
    public boolean matches(ApiRequest request) {
        return (verb == null || verb == request.verb())
                && (resource == null || resource == request.resource())
                && (namespace.isEmpty() || namespace.equals(request.key().namespace()))
                && (name.isEmpty() || name.equals(request.key().name()));
    }
}
