package dev.podcache.embedded;

import com.google.common.base.Splitter;
import dev.podcache.object.ObjectKey;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a URL's path names: a collection, an object or the status of one.
 *
 * @param key with an empty name for a collection, and an empty namespace for all of them
 */
record RequestPath(Resource resource, ObjectKey key, Part part) {

    private static final Splitter SLASHES = Splitter.on('/').omitEmptyStrings();

    /**
     * Reads a path such as {@code /api/v1/namespaces/shop/pods/web-1/status}; null if it names nothing that we store.
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
        return new RequestPath(resource, ObjectKey.of(namespace, name), status ? Part.STATUS : Part.OBJECT);
    }

    boolean isCollection() {
        return key.name().isEmpty();
    }
}
