package dev.podcache.embedded;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableList;
import dev.podcache.object.ObjectKey;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The collection, object or subresource that the path of a URL names.
 *
 * @param key the key of the object; its name is empty for a collection, and its namespace for all namespaces or a
 *     cluster-scoped resource
 */
record RequestPath(Resource resource, ObjectKey key, ObjectPart part) {

    private static final Splitter SLASHES = Splitter.on('/').omitEmptyStrings();

    /**
     * Parses a path such as {@code /api/v1/namespaces/shop/pods/web-1/status}. Returns null if the path names no
     * resource of this server.
     *
     * @param served the resources of this server
     */
    static @Nullable RequestPath parse(ImmutableList<Resource> served, String path) {
        List<String> all = SLASHES.splitToStream(path)
                .map(segment -> URLDecoder.decode(segment, StandardCharsets.UTF_8))
                .toList();
        if (all.size() >= 3 && all.get(0).equals("api") && all.get(1).equals("v1")) {
            return parse(served, "v1", all.subList(2, all.size()));
        }
        if (all.size() >= 4 && all.get(0).equals("apis")) {
            return parse(served, all.get(1) + "/" + all.get(2), all.subList(3, all.size()));
        }
        return null;
    }

    private static @Nullable RequestPath parse(
            ImmutableList<Resource> served, String apiVersion, List<String> segments) {
        boolean inNamespace = segments.size() >= 3
                && segments.get(0).equals("namespaces")
                && !segments.get(2).equals("status");
        return inNamespace
                ? of(served, apiVersion, segments.get(1), segments.subList(2, segments.size()))
                : of(served, apiVersion, "", segments);
    }

    private static @Nullable RequestPath of(
            ImmutableList<Resource> served, String apiVersion, String namespace, List<String> segments) {
        for (Resource resource : served) {
            boolean named = resource.plural().equals(segments.get(0))
                    && resource.apiVersion().equals(apiVersion)
                    && (resource.namespaced() || namespace.isEmpty());
            if (named) {
                return of(resource, namespace, segments);
            }
        }
        return null;
    }

    private static @Nullable RequestPath of(Resource resource, String namespace, List<String> segments) {
        Optional<ObjectPart> part = segments.size() == 3 ? part(resource, segments.get(2)) : Optional.empty();
        boolean unknownPart = segments.size() > (resource.isReview() ? 1 : 2) && part.isEmpty();
        boolean objectOfNoNamespace = segments.size() > 1 && resource.namespaced() && namespace.isEmpty();
        if (unknownPart || objectOfNoNamespace) {
            return null;
        }
        String name = segments.size() > 1 ? segments.get(1) : "";
        return new RequestPath(resource, ObjectKey.of(namespace, name), part.orElse(ObjectPart.OBJECT));
    }

    private static Optional<ObjectPart> part(Resource resource, String subresource) {
        if (subresource.equals("status") && resource.hasStatus()) {
            return Optional.of(ObjectPart.STATUS);
        }
        return subresource.equals("ephemeralcontainers") && resource.equals(Resource.PODS)
                ? Optional.of(ObjectPart.EPHEMERAL_CONTAINERS)
                : Optional.empty();
    }

    boolean isCollection() {
        return key.name().isEmpty();
    }
}
