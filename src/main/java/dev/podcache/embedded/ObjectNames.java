package dev.podcache.embedded;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.object.Names;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ResourceVersions;
import java.util.concurrent.ThreadLocalRandom;

/** Validates the names, namespaces and resource versions in requests. */
final class ObjectNames {

    /** The characters that {@code k8s.io/apimachinery/pkg/util/rand} uses because they do not form words. */
    private static final String SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789";

    private static final int SUFFIX_LENGTH = 5;

    /** A longer prefix is cut, so that the name fits where a label is needed. */
    private static final int MAX_PREFIX = 63 - SUFFIX_LENGTH;

    private ObjectNames() {}

    /**
     * Returns the key for a new object. Generates the name from {@code generateName} if no name is given.
     *
     * @throws StatusException 400 if the namespaces of the URL and the body differ, 422 if a name is missing or invalid
     */
    static ObjectKey forCreate(Resource resource, String namespace, JsonNode body) {
        JsonNode metadata = body.path("metadata");
        String name = metadata.path("name").asText();
        String prefix = metadata.path("generateName").asText();
        if (name.isEmpty() && prefix.isEmpty()) {
            throw StatusException.invalid(
                    resource, "", FieldError.required("metadata.name", "name or generateName is required"));
        }
        String own = metadata.path("namespace").asText();
        requireSameNamespace(namespace, own);
        ObjectKey key = ObjectKey.of(
                resource.namespaced() ? (namespace.isEmpty() ? own : namespace) : "",
                name.isEmpty() ? generated(prefix) : name);
        if (name.isEmpty() && !isLegal(resource, withoutTrailingDash(prefix))) {
            throw illegal(resource, key, "metadata.generateName", prefix);
        }
        requireLegal(resource, key);
        return key;
    }

    /**
     * Checks that the body of an update has the name and namespace of the URL.
     *
     * @throws StatusException 400 if they differ
     */
    static void requireMatch(Resource resource, ObjectKey key, ObjectNode body) {
        JsonNode metadata = body.path("metadata");
        String name = metadata.path("name").asText(key.name());
        if (!name.equals(key.name())) {
            throw StatusException.badRequest(
                    "the name of the object (" + name + ") does not match the name on the URL (" + key.name() + ")");
        }
        if (resource.namespaced()) {
            requireSameNamespace(key.namespace(), metadata.path("namespace").asText());
        }
    }

    /** Returns the key of a stored object. */
    static ObjectKey keyOf(JsonNode object) {
        JsonNode metadata = object.path("metadata");
        return ObjectKey.of(
                metadata.path("namespace").asText(), metadata.path("name").asText());
    }

    /**
     * Parses a resourceVersion parameter; returns 0 if it is empty.
     *
     * @throws StatusException 500 if it is not an unsigned number, as a kube-apiserver answers
     */
    static long version(String resourceVersion) {
        if (resourceVersion.isEmpty()) {
            return 0;
        }
        return ResourceVersions.parse(resourceVersion)
                .orElseThrow(() -> StatusException.invalidVersion(resourceVersion));
    }

    private static void requireSameNamespace(String ofUrl, String ofBody) {
        if (!ofUrl.isEmpty() && !ofBody.isEmpty() && !ofUrl.equals(ofBody)) {
            throw StatusException.badRequest(
                    "the namespace of the provided object does not match the namespace sent on the request");
        }
    }

    private static void requireLegal(Resource resource, ObjectKey key) {
        if (!isLegal(resource, key.name())) {
            throw illegal(resource, key, "metadata.name", key.name());
        }
        if (resource.namespaced() && !Names.isLabel(key.namespace())) {
            throw illegal(resource, key, "metadata.namespace", key.namespace());
        }
    }

    /** Returns whether a name is legal for its resource: some names become parts of host names or variables. */
    private static boolean isLegal(Resource resource, String name) {
        // newer API servers let the name of a Service begin with a digit
        if (resource.equals(Resource.NAMESPACES) || resource.equals(Resource.SERVICES)) {
            return Names.isLabel(name);
        }
        return (resource.hasFreeNames() && isPathSegment(name)) || Names.isSubdomain(name);
    }

    /** Returns a text that is a legal name if {@code prefix} may begin one: "-" may be the end of a prefix only. */
    private static String withoutTrailingDash(String prefix) {
        return prefix.length() > 1 && prefix.endsWith("-") ? prefix.substring(0, prefix.length() - 2) + "a" : prefix;
    }

    private static String generated(String prefix) {
        return prefix.substring(0, Math.min(prefix.length(), MAX_PREFIX)) + randomSuffix();
    }

    /** Returns whether a name can be a part of a URL, which is all that {@linkplain Resource#hasFreeNames free names} must be. */
    static boolean isPathSegment(String name) {
        return !name.isEmpty()
                && !name.equals(".")
                && !name.equals("..")
                && name.indexOf('/') < 0
                && name.indexOf('%') < 0;
    }

    private static StatusException illegal(Resource resource, ObjectKey key, String field, String value) {
        return StatusException.invalid(
                resource, key.name(), FieldError.invalid(field, "\"" + value + "\"", "must be a valid name"));
    }

    private static String randomSuffix() {
        StringBuilder suffix = new StringBuilder(SUFFIX_LENGTH);
        for (int i = 0; i < SUFFIX_LENGTH; i++) {
            suffix.append(SUFFIX_ALPHABET.charAt(ThreadLocalRandom.current().nextInt(SUFFIX_ALPHABET.length())));
        }
        return suffix.toString();
    }
}
