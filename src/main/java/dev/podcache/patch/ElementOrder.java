package dev.podcache.patch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;

/**
 * Elements of a merged list: which is which, and where they go. What the patch names is in the patch's order, the rest
 * in the order it had, and between the two the old order decides where it can.
 */
final class ElementOrder {

    private final String mergeKey;

    /** The order of lists with that key, or of {@link MergeKeys#VALUES}. */
    ElementOrder(String mergeKey) {
        this.mergeKey = mergeKey;
    }

    /** What tells an element from others. */
    JsonNode identity(JsonNode element) {
        if (mergeKey.equals(MergeKeys.VALUES)) {
            return element;
        }
        JsonNode key = element.path(mergeKey);
        if (key.isMissingNode() || key.isNull()) {
            throw PatchException.unforeseen("a list element lacks its merge key " + mergeKey);
        }
        return key;
    }

    /** Where the first element with the identity of {@code wanted} is, or -1; what is no list has none. */
    int indexOf(JsonNode list, JsonNode wanted) {
        JsonNode identity = identity(wanted);
        for (int i = 0; list.isArray() && i < list.size(); i++) {
            if (identity(list.get(i)).equals(identity)) {
                return i;
            }
        }
        return -1;
    }

    /**
     * Whether the elements of a patch's list, but for those that it deletes, are all named in
     * {@code order}, and in that order.
     */
    boolean isFollowed(JsonNode order, JsonNode list) {
        Iterator<JsonNode> places = order.iterator();
        for (JsonNode element : list) {
            boolean deleted = element.path(Directives.PATCH).asText().equals(Directives.DELETE);
            if (!deleted && !reach(places, element)) {
                return false;
            }
        }
        return true;
    }

    private boolean reach(Iterator<JsonNode> places, JsonNode element) {
        while (places.hasNext()) {
            if (isSame(places.next(), element)) {
                return true;
            }
        }
        return false;
    }

    private boolean isSame(JsonNode place, JsonNode element) {
        return mergeKey.equals(MergeKeys.VALUES)
                ? place.equals(element)
                : place.has(mergeKey) && place.get(mergeKey).equals(element.get(mergeKey));
    }

    /** The elements of {@code merged} in their final order. */
    ArrayNode arrange(ArrayNode merged, JsonNode patchOrder, JsonNode oldOrder) {
        patchOrder.forEach(this::identity);
        List<JsonNode> named = new ArrayList<>();
        List<JsonNode> others = new ArrayList<>();
        merged.forEach(element -> (indexOf(patchOrder, element) >= 0 ? named : others).add(element));
        named.sort(Comparator.comparingInt(element -> indexOf(patchOrder, element)));
        others.sort(Comparator.comparingInt(element -> indexOf(oldOrder, element)));

        ArrayNode result = JsonNodeFactory.instance.arrayNode(merged.size());
        int next = 0;
        for (JsonNode element : named) {
            while (next < others.size() && wasBefore(others.get(next), element, oldOrder)) {
                result.add(others.get(next++));
            }
            result.add(element);
        }
        others.subList(next, others.size()).forEach(result::add);
        return result;
    }

    private boolean wasBefore(JsonNode left, JsonNode right, JsonNode oldOrder) {
        int leftIndex = indexOf(oldOrder, left);
        int rightIndex = indexOf(oldOrder, right);
        return leftIndex >= 0 && leftIndex < rightIndex;
    }
}
