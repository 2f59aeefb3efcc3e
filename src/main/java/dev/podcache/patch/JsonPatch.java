package dev.podcache.patch;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.object.Quoted;

/**
 * RFC 6902: a list of operations, applied in order, all or none. Copies are bounded, because copies of copies grow with
 * the number of operations as nothing else does.
 */
public final class JsonPatch {

    // An operation that is none counts as inapplicable, because servers judge operations as they apply them.
    // fabric8 brings an implementation, but that one removes what is not there without a word, which a server refuses

    private static final int LONGEST_PATH = 8192;

    /** As JSON, in characters, all copies of a patch together; what a kube-apiserver allows. */
    private static final int MOST_COPIED = 3 << 20;

    private JsonPatch() {}

    /**
     * {@code target} after {@code patch}; neither is modified.
     *
     * @throws PatchException if it is no list of operations, or one of them fails, a {@code test} included
     */
    public static JsonNode apply(JsonNode target, JsonNode patch) {
        if (!(patch instanceof ArrayNode operations)) {
            throw PatchException.malformed("a JSON patch is a list of operations");
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
                        throw failure("finds another value");
                    }
                    yield target;
                }
                default -> throw PatchException.inapplicable("operation " + index + " of the JSON patch is unknown");
            };
        }

        /** How many characters of {@code target} it will copy. */
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
                    throw failure("is out of the list's bounds");
                }
                array.insert(at, value);
            } else {
                throw failure("leads nowhere");
            }
            return target;
        }

        private JsonNode remove(JsonNode target, JsonPointer path) {
            requirePresent(target, path);
            if (path.matches()) {
                throw failure("would leave nothing");
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
                throw failure("leads nowhere");
            }
            return found;
        }

        private JsonNode value() {
            JsonNode value = json.get("value");
            if (value == null) {
                throw PatchException.inapplicable("operation " + index + " of the JSON patch lacks its value");
            }
            return value.deepCopy();
        }

        private JsonPointer pointer(String field) {
            String text = json.path(field).asText();
            if (!json.path(field).isTextual() || !(text.isEmpty() || text.startsWith("/"))) {
                throw PatchException.inapplicable(
                        "operation " + index + " of the JSON patch lacks a JSON pointer as its " + field);
            }
            if (text.length() > LONGEST_PATH) {
                throw PatchException.inapplicable("operation " + index + " of the JSON patch has a " + field
                        + " of more than " + LONGEST_PATH + " characters");
            }
            return JsonPointer.compile(text);
        }

        /** Its place and nothing else: its value may be a secret. */
        @Override
        public String toString() {
            return "Operation[" + index + "]";
        }

        private PatchException failure(String why) {
            return PatchException.inapplicable("operation " + index + " of the JSON patch ("
                    + json.path("op").asText() + " "
                    + Quoted.text(json.path("path").asText()) + ") " + why);
        }
    }
}
