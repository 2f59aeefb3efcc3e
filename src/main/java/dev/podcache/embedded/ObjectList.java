package dev.podcache.embedded;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.collect.ImmutableList;

/**
 * What a list found.
 *
 * @param items by namespace and name; shared and never to be modified
 * @param resourceVersion from which a watch may go on
 */
public record ObjectList(ImmutableList<ObjectNode> items, String resourceVersion) {

    /** The version and the count: the objects may be Secrets. */
    @Override
    public String toString() {
        return "ObjectList[items=" + items.size() + ", resourceVersion=" + resourceVersion + "]";
    }
}
