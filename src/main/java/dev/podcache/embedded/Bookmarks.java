package dev.podcache.embedded;

import com.fasterxml.jackson.databind.node.ObjectNode;

/** Builds the events that tell a watch how far it has come. */
final class Bookmarks {

    private Bookmarks() {}

    /** Everything up to {@code revision} has been told. */
    static ClusterEvent at(Resource resource, long revision) {
        ObjectNode bookmark = Json.MAPPER.createObjectNode();
        bookmark.put("kind", resource.kind());
        bookmark.put("apiVersion", resource.apiVersion());
        ObjectNode metadata = bookmark.putObject("metadata");
        metadata.put("resourceVersion", Long.toUnsignedString(revision));
        metadata.putNull("creationTimestamp");
        return new ClusterEvent(ClusterEvent.Type.BOOKMARK, bookmark);
    }
}
