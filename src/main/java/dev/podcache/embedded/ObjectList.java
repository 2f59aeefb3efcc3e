package dev.podcache.embedded;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/**
 * The result of a list request.
 *
 * @param items the objects, unmodifiable and ordered by namespace and name; shared, so callers must not modify them
 * @param resourceVersion the version of the list, from which a watch can continue
 * @param continueToken the token with which the next page is requested; empty if this is the last one
 * @param remainingItemCount the number of objects on later pages; 0 if it is not known
 */
public record ObjectList(
        List<ObjectNode> items, String resourceVersion, String continueToken, long remainingItemCount) {

    /** Returns the version and the number of items. The items are left out because they may be Secrets. */
    @Override
    public String toString() {
        return "ObjectList[items=" + items.size() + ", resourceVersion=" + resourceVersion + "]";
    }
}
