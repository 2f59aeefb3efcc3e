package dev.podcache.embedded;

import com.google.common.base.Splitter;
import dev.podcache.object.ObjectKey;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The collection, object or status subresource that the path of a URL names.
 *
 * @param key the key of the object; its name is empty for a collection, and its namespace for all namespaces or a
 *     cluster-scoped resource
 */
record RequestPath(Resource resource, ObjectKey key, ObjectPart part) {

    private static final Splitter SLASHES = Splitter.on('/').omitEmptyStrings();

    /**
     * Parses a path such as {@code /api/v1/namespaces/shop/pods/web-1/status}. Returns null if the path names no
     * resource of this server.
     */
    static @Nullable RequestPath parse(String path) {
        List<String> all = SLASHES.splitToStream(path)
                .map(segment -> URLDecoder.decode(segment, StandardCharsets.UTF_8))
                .toList();
        if (all.size() >= 3 && all.get(0).equals("api") && all.get(1).equals("v1")) {
            return parse("", all.subList(2, all.size()));
        }
        if (all.size() >= 4 && all.get(0).equals("apis") && all.get(2).equals("v1")) {
            return parse(all.get(1), all.subList(3, all.size()));
        }
        return null;
    }

    private static @Nullable RequestPath parse(String group, List<String> segments) {
        boolean inNamespace = segments.size() >= 3
                && segments.get(0).equals("namespaces")
                && !segments.get(2).equals("status");
        return inNamespace ? of(group, segments.get(1), segments.subList(2, segments.size())) : of(group, "", segments);
    }

    private static @Nullable RequestPath of(String group, String namespace, List<String> segments) {
        for (Resource resource : Resource.values()) {
            boolean named = resource.plural().equals(segments.get(0))
                    && resource.group().equals(group)
                    && (resource.namespaced() || namespace.isEmpty());
            if (named) {
                return of(resource, namespace, segments);
            }
        }
        return null;
    }

    private static @Nullable RequestPath of(Resource resource, String namespace, List<String> segments) {
        boolean status = segments.size() == 3 && segments.get(2).equals("status") && resource.hasStatus();
        boolean unknownPart = segments.size() > 2 && !status;
        boolean objectOfNoNamespace = segments.size() > 1 && resource.namespaced() && namespace.isEmpty();
        if (unknownPart || objectOfNoNamespace) {
            return null;
        }
        String name = segments.size() > 1 ? segments.get(1) : "";
        return new RequestPath(resource, ObjectKey.of(namespace, name), status ? ObjectPart.STATUS : ObjectPart.OBJECT);
    }

    boolean isCollection() {
        return key.name().isEmpty();
    }
}
