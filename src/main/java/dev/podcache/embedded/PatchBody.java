package dev.podcache.embedded;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.patch.JsonPatch;
import dev.podcache.patch.MergePatch;
import dev.podcache.patch.PatchException;
import dev.podcache.patch.StrategicMergePatch;

/** A change of an object, in one of three languages. */
public record PatchBody(PatchType type, JsonNode body) {

    /** The language. */
    public enum PatchType {
        JSON("application/json-patch+json"),
        MERGE("application/merge-patch+json"),
        STRATEGIC("application/strategic-merge-patch+json");

        private final String mediaType;

        PatchType(String mediaType) {
            this.mediaType = mediaType;
        }

        /** As the Content-PatchType names it. */
        public String mediaType() {
            return mediaType;
        }
    }

    ObjectNode applyTo(Resource resource, ObjectNode object) {
        try {
            if (apply(resource, object) instanceof ObjectNode result) {
                requireModel(resource, result);
                return result;
            }
            throw StatusException.badRequest("the patch leaves no object");
        } catch (PatchException e) {
            String why = String.valueOf(e.getMessage());
            throw switch (e.fault()) {
                case MALFORMED -> StatusException.badRequest(why);
                case INAPPLICABLE -> StatusException.unprocessable(why);
                case UNFORESEEN -> StatusException.ownMistake(why);
            };
        }
    }

    private JsonNode apply(Resource resource, ObjectNode object) {
        return switch (type) {
            case JSON -> JsonPatch.apply(object, body);
            case MERGE -> MergePatch.apply(object, requireObject());
            case STRATEGIC -> StrategicMergePatch.of(resource.kind()).apply(object, requireObject());
        };
    }

    private static void requireModel(Resource resource, ObjectNode result) {
        try {
            Json.model(result, resource.model());
        } catch (StatusException e) {
            throw StatusException.unprocessable(String.valueOf(e.getMessage()));
        }
    }

    private ObjectNode requireObject() {
        if (body instanceof ObjectNode object) {
            return object;
        }
        String complaint = "a " + type.mediaType() + " is a JSON object";
        throw type == PatchType.MERGE
                ? StatusException.unprocessable(complaint)
                : StatusException.badRequest(complaint);
    }

    /** The type and nothing else: the body may hold a secret. */
    @Override
    public String toString() {
        return "PatchBody[" + type + "]";
    }
}
