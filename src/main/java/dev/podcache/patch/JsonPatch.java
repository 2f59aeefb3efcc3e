package dev.podcache.patch;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.object.Quoted;

/**
 * A JSON patch (RFC 6902): a list of operations, which are applied in order, all or none. The size of copies is
 * bounded, because copies of copies grow exponentially with the number of operations.
 */
public final class JsonPatch {

    // An invalid operation counts as inapplicable, because servers check an operation only when they apply it.
    // fabric8 has an implementation too, but it silently skips the removal of a missing field, which a server refuses.

    private static final int LONGEST_PATH = 8192;

    /** The limit for all copies of one patch together, in characters of JSON, as in a kube-apiserver. */
    private static final int MOST_COPIED = 3 << 20;

    private JsonPatch() {}

    /**
     * Returns {@code target} with {@code patch} applied. Modifies neither.
     *
     * @throws PatchException if {@code patch} is not a list of operations, or if an operation fails, such as a {@code
     *     test}
     */
    public static JsonNode apply(JsonNode target, JsonNode patch) {
        if (!(patch instanceof ArrayNode operations)) {
            throw PatchException.malformed("the JSON patch is not a list of operations");
        }
        JsonNode result = target.deepCopy();
        int copied = 0;
        for (int i = 0; i < operations.size(); i++) {
            Operation operation = new Operation(i, operations.get(i));
            copied += operation.copies(result);
            if (copied > MOST_COPIED) {
                throw PatchException.inapplicable("the JSON patch copies more than " + MOST_COPIED + " characters");
            }
            result = operation.apply(result);
        }
        return result;
    }

    private record Operation(int index, JsonNode json) {

        JsonNode apply(JsonNode target) {
            JsonPointer path = pointer("path");
            return switch (json.path("op").asText()) {
                case "add" -> add(target, path, value());
                case "remove" -> remove(target, path);
                case "replace" -> {
                    requirePresent(target, path);
                    yield path.matches() ? value() : add(remove(target, path), path, value());
                }
                case "move" -> {
                    JsonNode moved = requirePresent(target, pointer("from"));
                    yield add(remove(target, pointer("from")), path, moved);
                }
                case "copy" ->
                    add(target, path, requirePresent(target, pointer("from")).deepCopy());
                case "test" -> {
                    if (!requirePresent(target, path).equals(value())) {
                        throw failure("the value differs");
                    }
                    yield target;
                }
                default ->
                    throw PatchException.inapplicable("operation " + index + " of the JSON patch has no known op");
            };
        }

        /** Returns how many characters of {@code target} this operation copies. */
        int copies(JsonNode target) {
            return json.path("op").asText().equals("copy")
                    ? target.at(pointer("from")).toString().length()
                    : 0;
        }

        private JsonNode add(JsonNode target, JsonPointer path, JsonNode value) {
            if (path.matches()) {
                return value;
            }
            JsonNode parent = target.at(path.head());
            String last = path.last().getMatchingProperty();
            if (parent instanceof ObjectNode object) {
                object.set(last, value);
            } else if (parent instanceof ArrayNode array) {
                int at = last.equals("-") ? array.size() : path.last().getMatchingIndex();
                if (at < 0 || at > array.size()) {
                    throw failure("the index is outside the list");
                }
                array.insert(at, value);
            } else {
                throw failure("the parent is neither an object nor a list");
            }
            return target;
        }

        private JsonNode remove(JsonNode target, JsonPointer path) {
            requirePresent(target, path);
            if (path.matches()) {
                throw failure("the whole object cannot be removed");
            }
            JsonNode parent = target.at(path.head());
            if (parent instanceof ObjectNode object) {
                object.remove(path.last().getMatchingProperty());
            } else if (parent instanceof ArrayNode array) {
                array.remove(path.last().getMatchingIndex());
            }
            return target;
        }

        private JsonNode requirePresent(JsonNode target, JsonPointer path) {
            JsonNode found = target.at(path);
            if (found.isMissingNode()) {
                throw failure("nothing exists at " + Quoted.text(path.toString()));
            }
            return found;
        }

        private JsonNode value() {
            JsonNode value = json.get("value");
            if (value == null) {
                throw PatchException.inapplicable("operation " + index + " of the JSON patch has no value");
            }
            return value.deepCopy();
        }

        private JsonPointer pointer(String field) {
            String text = json.path(field).asText();
            if (!json.path(field).isTextual() || !(text.isEmpty() || text.startsWith("/"))) {
                throw PatchException.inapplicable(
                        "operation " + index + " of the JSON patch needs a JSON pointer as its " + field);
            }
            if (text.length() > LONGEST_PATH) {
                throw PatchException.inapplicable("operation " + index + " of the JSON patch has a " + field
                        + " of more than " + LONGEST_PATH + " characters");
            }
            return JsonPointer.compile(text);
        }

        /** Returns the index only, because the value may be a secret. */
        @Override
        public String toString() {
            return "Operation[" + index + "]";
        }

        private PatchException failure(String why) {
            return PatchException.inapplicable("operation " + index + " of the JSON patch ("
                    + json.path("op").asText() + " "
                    + Quoted.text(json.path("path").asText()) + ") failed: " + why);
        }
    }
}
