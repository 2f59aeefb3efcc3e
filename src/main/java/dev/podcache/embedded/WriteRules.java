package dev.podcache.embedded;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.object.ObjectKey;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Base64;
import java.util.Map;
import java.util.UUID;

/**
 * The changes and checks that a kube-apiserver applies to an object before it stores it, as far as clients of this
 * library can see: system metadata, the separation of the status, and immutable Secrets and ConfigMaps. Pure functions.
 */
final class WriteRules {

    // After pkg/registry/core/*/strategy.go and apiserver/pkg/registry/rest/{create,update}.go of
    // kubernetes/kubernetes.

    private static final String[] KEPT_METADATA = {
        "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation"
    };
    private static final String[] OMITTED_IF_EMPTY = {
        "labels", "annotations", "finalizers", "ownerReferences", "data", "binaryData"
    };
    private static final String IMMUTABLE = "field is immutable when `immutable` is set";
    private static final int MAX_PAYLOAD_BYTES = 1 << 20;

    private WriteRules() {}

    /**
     * Returns the object to store for a create request.
     *
     * @throws StatusException 400, 422 or 500 if {@code body} is invalid
     */
    static ObjectNode created(Resource resource, ObjectKey key, ObjectNode body, Instant now) {
        ObjectNode object = normalised(resource, key, body);
        ObjectNode metadata = Json.object(object, "metadata");
        if (metadata.has("resourceVersion")) {
            throw StatusException.of(500, "", "resourceVersion should not be set on objects to be created");
        }
        metadata.remove("deletionTimestamp");
        metadata.remove("deletionGracePeriodSeconds");
        metadata.remove("generation");
        metadata.put("uid", UUID.randomUUID().toString());
        metadata.put("creationTimestamp", timestamp(now));
        switch (resource) {
            case PODS -> {
                metadata.put("generation", 1);
                object.putObject("status").put("phase", "Pending");
            }
            case NAMESPACES -> object.putObject("status").put("phase", "Active");
            case SERVICES -> object.putObject("status").putObject("loadBalancer");
            case NODES -> Json.object(object, "status");
            case SECRETS, CONFIG_MAPS, EVENTS, LEASES -> {}
        }
        return object;
    }

    /**
     * Returns the object to store for an update.
     *
     * @throws StatusException 409 if the UID or resourceVersion differs from {@code current}, 400 or 422 if
     *     {@code body} is invalid
     */
    static ObjectNode updated(Resource resource, ObjectKey key, ObjectPart part, ObjectNode current, ObjectNode body) {
        ObjectNode object = normalised(resource, key, body);
        requireSameObject(resource, key, current, object);
        ObjectNode metadata = Json.object(object, "metadata");
        for (String field : KEPT_METADATA) {
            Json.copy(current.path("metadata"), metadata, field);
        }
        if (part == ObjectPart.STATUS) {
            Json.copy(current.path("metadata"), metadata, "ownerReferences");
            keepAllExcept("status", current, object);
        } else if (resource.hasStatus()) {
            Json.copy(current, object, "status");
        }
        if (resource == Resource.PODS && !current.path("spec").equals(object.path("spec"))) {
            metadata.put("generation", metadata.path("generation").asInt() + 1);
        }
        requireMutable(resource, key, current, object);
        return object;
    }

    /** Returns {@code time} as a timestamp with a precision of one second. */
    static String timestamp(Instant time) {
        return time.truncatedTo(ChronoUnit.SECONDS).toString();
    }

    private static ObjectNode normalised(Resource resource, ObjectKey key, ObjectNode body) {
        ObjectNode object = body.deepCopy();
        Json.dropNulls(object);
        requireKind(resource, object);
        Json.model(object, resource.model());
        object.put("kind", resource.kind());
        object.put("apiVersion", resource.apiVersion());
        ObjectNode metadata = Json.object(object, "metadata");
        for (String field : OMITTED_IF_EMPTY) {
            Json.dropIfEmpty(metadata, field);
            Json.dropIfEmpty(object, field);
        }
        metadata.remove("managedFields");
        metadata.remove("selfLink");
        metadata.put("name", key.name());
        if (resource.namespaced()) {
            metadata.put("namespace", key.namespace());
        } else {
            metadata.remove("namespace");
        }
        if (resource == Resource.SECRETS) {
            normaliseSecret(key, object);
        }
        if (resource.hasStatus() || resource == Resource.LEASES) {
            Json.object(object, "spec");
        }
        return object;
    }

    private static void requireKind(Resource resource, ObjectNode object) {
        String kind = object.path("kind").asText(resource.kind());
        String apiVersion = object.path("apiVersion").asText(resource.apiVersion());
        if (!kind.equals(resource.kind()) || !apiVersion.equals(resource.apiVersion())) {
            throw StatusException.badRequest("the object provided is a " + apiVersion + " " + kind
                    + ", but this resource takes " + resource.apiVersion() + " " + resource.kind());
        }
    }

    private static void normaliseSecret(ObjectKey key, ObjectNode secret) {
        JsonNode plain = secret.remove("stringData");
        if (plain != null) {
            ObjectNode data = Json.object(secret, "data");
            plain.properties()
                    .forEach(entry -> data.put(
                            entry.getKey(),
                            Base64.getEncoder()
                                    .encodeToString(entry.getValue().asText().getBytes(StandardCharsets.UTF_8))));
        }
        long size = 0;
        for (Map.Entry<String, JsonNode> entry : secret.path("data").properties()) {
            size += decodedLength(key, entry.getKey(), entry.getValue());
        }
        if (size > MAX_PAYLOAD_BYTES) {
            throw StatusException.invalid(Resource.SECRETS, key.name(), FieldError.tooLong("data", MAX_PAYLOAD_BYTES));
        }
        if (secret.path("type").asText().isEmpty()) {
            secret.put("type", "Opaque");
        }
    }

    private static int decodedLength(ObjectKey key, String field, JsonNode value) {
        try {
            return Base64.getDecoder().decode(value.asText()).length;
        } catch (IllegalArgumentException e) {
            // the message of the decoder quotes a character of the secret
            throw StatusException.badRequest("Secret in version \"v1\" cannot be handled as a Secret: data." + field
                    + " of \"" + key.name() + "\" is not base64");
        }
    }

    /**
     * Checks that a patch does not change the UID. An update that changes it is a conflict instead.
     *
     * @throws StatusException 422 if the UID differs
     */
    static void requireSameUid(Resource resource, ObjectKey key, ObjectNode current, ObjectNode patched) {
        String uid = patched.path("metadata").path("uid").asText();
        if (!uid.equals(current.path("metadata").path("uid").asText())) {
            throw StatusException.invalid(
                    resource, key.name(), FieldError.invalid("metadata.uid", "\"" + uid + "\"", "field is immutable"));
        }
    }

    private static void requireSameObject(Resource resource, ObjectKey key, ObjectNode current, ObjectNode object) {
        JsonNode was = current.path("metadata");
        JsonNode is = object.path("metadata");
        String uid = is.path("uid").asText();
        if (!uid.isEmpty() && !uid.equals(was.path("uid").asText())) {
            throw StatusException.conflict(
                    resource,
                    key.name(),
                    "Precondition failed: UID in precondition: " + uid + ", UID in object meta: "
                            + was.path("uid").asText());
        }
        String version = is.path("resourceVersion").asText();
        if (version.isEmpty() && resource == Resource.LEASES) {
            throw StatusException.invalidUpdate(
                    resource,
                    key.name(),
                    FieldError.invalid("metadata.resourceVersion", "0x0", "must be specified for an update"));
        }
        if (!version.isEmpty() && !version.equals(was.path("resourceVersion").asText())) {
            throw StatusException.conflict(
                    resource,
                    key.name(),
                    "the object has been modified; please apply your changes to the latest version and try again");
        }
    }

    private static void keepAllExcept(String field, ObjectNode current, ObjectNode object) {
        object.properties()
                .removeIf(entry -> !entry.getKey().equals(field)
                        && !entry.getKey().equals("metadata")
                        && !current.has(entry.getKey()));
        current.properties().forEach(entry -> {
            if (!entry.getKey().equals(field) && !entry.getKey().equals("metadata")) {
                object.set(entry.getKey(), entry.getValue());
            }
        });
    }

    private static void requireMutable(Resource resource, ObjectKey key, ObjectNode current, ObjectNode object) {
        if (resource == Resource.SECRETS && !current.path("type").equals(object.path("type"))) {
            String type = "\"" + object.path("type").asText() + "\"";
            throw StatusException.invalid(resource, key.name(), FieldError.invalid("type", type, "field is immutable"));
        }
        boolean payload = resource == Resource.SECRETS || resource == Resource.CONFIG_MAPS;
        if (!payload || !current.path("immutable").asBoolean()) {
            return;
        }
        if (!object.path("immutable").asBoolean()) {
            throw StatusException.invalid(resource, key.name(), FieldError.forbidden("immutable", IMMUTABLE));
        }
        for (String field : new String[] {"data", "binaryData"}) {
            if (!current.path(field).equals(object.path(field))) {
                throw StatusException.invalid(resource, key.name(), FieldError.forbidden(field, IMMUTABLE));
            }
        }
    }
}
