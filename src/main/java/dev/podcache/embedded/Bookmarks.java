package dev.podcache.embedded;

import com.fasterxml.jackson.databind.node.ObjectNode;

/** Creates BOOKMARK events, which tell a watch up to which resourceVersion it is complete. */
final class Bookmarks {

    private Bookmarks() {}

    /** Returns the bookmark that ends the initial events of a watch, which show the state at {@code revision}. */
    static ClusterEvent endOfInitialEvents(Resource resource, long revision) {
        ClusterEvent bookmark = at(resource, revision);
        bookmark.object().withObject("/metadata/annotations").put("k8s.io/initial-events-end", "true");
        return bookmark;
    }

    /** Returns a bookmark that confirms the delivery of all changes up to {@code revision}. */
    static ClusterEvent at(Resource resource, long revision) {
        ObjectNode bookmark = Json.MAPPER.createObjectNode();
        bookmark.put("kind", resource.kind());
        bookmark.put("apiVersion", resource.apiVersion());
        ObjectNode metadata = bookmark.putObject("metadata");
        metadata.put("resourceVersion", Long.toUnsignedString(revision));
        metadata.putNull("creationTimestamp");
        return new ClusterEvent(ClusterEvent.ChangeType.BOOKMARK, bookmark);
    }
}
