package dev.podcache.patch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;

/**
 * Identifies and sorts the elements of a merged list. Elements that the patch names follow the patch's order; all
 * others keep their old order. Between the two groups, the old order decides if it contains both elements.
 */
final class ElementOrder {

    private final String mergeKey;

    /**
     * Creates the order of lists with one merge key.
     *
     * @param mergeKey the field that identifies an element, or {@link MergeKeys#VALUES}
     */
    ElementOrder(String mergeKey) {
        this.mergeKey = mergeKey;
    }

    /**
     * Returns the value that identifies {@code element} in its list.
     *
     * @throws PatchException if {@code element} lacks the merge key
     */
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

    /**
     * Returns the index of the first element that has the identity of {@code wanted}, or -1 if there is none. Returns
     * -1 too if {@code list} is not a list.
     */
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
     * Returns whether {@code order} names all elements of a patch's list, in the same order. Elements that the patch
     * deletes do not count.
     */
    boolean isFollowed(JsonNode order, JsonNode list) {
        Iterator<JsonNode> remaining = order.iterator();
        for (JsonNode element : list) {
            boolean deleted = element.path(Directives.PATCH).asText().equals(Directives.DELETE);
            if (!deleted && !advanceTo(element, remaining)) {
                return false;
            }
        }
        return true;
    }

    private boolean advanceTo(JsonNode element, Iterator<JsonNode> remaining) {
        while (remaining.hasNext()) {
            if (names(remaining.next(), element)) {
                return true;
            }
        }
        return false;
    }

    private boolean names(JsonNode entry, JsonNode element) {
        return mergeKey.equals(MergeKeys.VALUES)
                ? entry.equals(element)
                : entry.has(mergeKey) && entry.get(mergeKey).equals(element.get(mergeKey));
    }

    /** Returns the elements of {@code merged} in their final order. */
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
