package dev.podcache.embedded;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.patch.JsonPatch;
import dev.podcache.patch.MergePatch;
import dev.podcache.patch.PatchException;
import dev.podcache.patch.StrategicMergePatch;

/**
 * A patch and its type.
 *
 * @param body the patch, in the format of {@code type}
 */
public record PatchBody(PatchType type, JsonNode body) {

    /** The format of a patch. */
    public enum PatchType {
        JSON("application/json-patch+json"),
        MERGE("application/merge-patch+json"),
        STRATEGIC("application/strategic-merge-patch+json");

        private final String mediaType;

        PatchType(String mediaType) {
            this.mediaType = mediaType;
        }

        /** Returns the media type, as in the Content-Type header. */
        public String mediaType() {
            return mediaType;
        }
    }

    /**
     * Returns {@code object} with the patch applied.
     *
     * @throws StatusException 400 if the patch is malformed, 422 if it does not apply or its result is invalid, 500
     *     where a kube-apiserver does not handle the mistake
     */
    ObjectNode applyTo(Resource resource, ObjectNode object) {
        try {
            if (apply(resource, object) instanceof ObjectNode result) {
                requireModel(resource, result);
                return result;
            }
            throw StatusException.badRequest("the result of the patch must be a JSON object");
        } catch (PatchException e) {
            String why = String.valueOf(e.getMessage());
            throw switch (e.fault()) {
                case MALFORMED -> StatusException.badRequest(why);
                case INAPPLICABLE -> StatusException.unprocessable(why);
                case UNFORESEEN -> StatusException.unforeseen(why);
            };
        }
    }

    private JsonNode apply(Resource resource, ObjectNode object) {
        return switch (type) {
            case JSON -> JsonPatch.apply(object, body);
            case MERGE -> MergePatch.apply(object, requireObject());
            case STRATEGIC -> strategic(resource).apply(object, requireObject());
        };
    }

    private static StrategicMergePatch strategic(Resource resource) {
        if (resource.isCustom()) {
            throw StatusException.of(
                    415,
                    "UnsupportedMediaType",
                    "the body of the request was in an unknown format - accepted media types include:"
                            + " application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml");
        }
        return StrategicMergePatch.of(resource.kind());
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
        String message = "a patch of type " + type.mediaType() + " must be a JSON object";
        throw type == PatchType.MERGE ? StatusException.unprocessable(message) : StatusException.badRequest(message);
    }

    /** Returns the type only, because the body may contain a secret. */
    @Override
    public String toString() {
        return "PatchBody[" + type + "]";
    }
}
