package dev.podcache.embedded;

import com.fasterxml.jackson.databind.JsonNode;
import dev.podcache.object.ObjectKey;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Collection;
import java.util.NavigableMap;
import java.util.Objects;

/**
 * Which part of a list is requested.
 *
 * @param resourceVersion "" for the latest committed state; otherwise, the state in the watch cache, which must not be
 *     older than this version. "0" accepts any state, and then the limit is ignored, as by a kube-apiserver
 * @param limit the most objects to return; 0 for all
 * @param revision the revision of the pages before; 0 for the first page
 * @param after the last object of the page before
 */
record ListPage(String resourceVersion, long limit, long revision, ObjectKey after) {

    private static final ObjectKey NONE = ObjectKey.of("", "");

    ListPage {
        Objects.requireNonNull(resourceVersion, "resourceVersion");
    }

    /** Returns the first page of at most {@code limit} objects, or the whole list for 0. */
    static ListPage first(String resourceVersion, long limit) {
        return new ListPage(resourceVersion, limit, 0, NONE);
    }

    /**
     * Returns the page that a request asks for.
     *
     * @param token the continue token of the page before, or ""
     * @throws StatusException 400 if the token is not one of this server, or a version is requested beside it
     */
    static ListPage of(String resourceVersion, long limit, String token) {
        if (token.isEmpty()) {
            return first(resourceVersion, limit);
        }
        if (!resourceVersion.isEmpty() && !resourceVersion.equals("0")) {
            throw StatusException.badRequest("specifying resource version is not allowed when using continue");
        }
        try {
            JsonNode parsed = Json.MAPPER.readTree(Base64.getUrlDecoder().decode(token));
            long revision = parsed.path("rv").asLong();
            if (revision > 0) {
                ObjectKey after = ObjectKey.of(
                        parsed.path("namespace").asText(), parsed.path("name").asText());
                return new ListPage("", limit, revision, after);
            }
        } catch (IllegalArgumentException | IOException e) {
            // refused below
        }
        throw StatusException.badRequest("continue key is not valid: it is none of this server");
    }

    /** Returns the token of the page after {@code last} in a list of {@code revision}. */
    static String token(long revision, ObjectKey last) {
        String json = Json.MAPPER
                .createObjectNode()
                .put("rv", revision)
                .put("namespace", last.namespace())
                .put("name", last.name())
                .toString();
        return Base64.getUrlEncoder().withoutPadding().encodeToString(json.getBytes(StandardCharsets.UTF_8));
    }

    boolean isFirst() {
        return revision == 0;
    }

    /** Returns the objects of this page and of all later ones. */
    Collection<StoredObject> rest(NavigableMap<ObjectKey, StoredObject> all) {
        return isFirst() ? all.values() : all.tailMap(after, false).values();
    }
}
