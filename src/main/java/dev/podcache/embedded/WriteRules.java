package dev.podcache.embedded;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.collect.ImmutableList;
import dev.podcache.object.ModelTypes;
import dev.podcache.object.ObjectKey;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Collectors;

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
    private static final ImmutableList<String> NO_SPEC = ImmutableList.of("metadata", "status");
    private static final String EPHEMERAL_CONTAINERS = "ephemeralContainers";
    private static final String SPEC_EPHEMERAL = "spec." + EPHEMERAL_CONTAINERS;
    private static final String IMMUTABLE = "field is immutable when `immutable` is set";
    private static final String MIRROR = "kubernetes.io/config.mirror";

    private WriteRules() {}

    /**
     * Returns the object to store for a create request.
     *
     * @throws StatusException 400, 422 or 500 if {@code body} is invalid
     */
    static ObjectNode created(Resource resource, ObjectKey key, ObjectNode body, Instant now) {
        ObjectNode object = normalised(resource, key, body);
        ContentRules.check(resource, key, object);
        ObjectNode metadata = Json.object(object, "metadata");
        MetadataRules.checkFinalizers(resource, key, metadata);
        if (metadata.has("resourceVersion")) {
            throw StatusException.of(500, "", "resourceVersion should not be set on objects to be created");
        }
        metadata.remove("deletionTimestamp");
        metadata.remove("deletionGracePeriodSeconds");
        metadata.remove("generation");
        metadata.put("uid", UUID.randomUUID().toString());
        metadata.put("creationTimestamp", timestamp(now));
        if (resource.hasGeneration()) {
            metadata.put("generation", 1);
        }
        if (resource.equals(Resource.PODS)) {
            object.putObject("status").put("phase", "Pending");
        } else if (resource.equals(Resource.NAMESPACES)) {
            object.putObject("status").put("phase", "Active");
        } else if (resource.equals(Resource.SERVICES)) {
            object.putObject("status").putObject("loadBalancer");
        } else if (resource.equals(Resource.NODES)) {
            Json.object(object, "status");
        } else if (resource.hasStatus()) {
            object.remove("status");
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
        if (part == ObjectPart.EPHEMERAL_CONTAINERS) {
            return withEphemeralContainers(key, current, object);
        }
        ObjectNode metadata = Json.object(object, "metadata");
        for (String field : KEPT_METADATA) {
            Json.copy(current.path("metadata"), metadata, field);
        }
        if (part == ObjectPart.STATUS && resource.isCustom()) {
            object.set("metadata", current.path("metadata").deepCopy());
            keepAllExcept("status", current, object);
            return object;
        }
        requireNoNewFinalizers(resource, key, current.path("metadata"), metadata);
        if (part == ObjectPart.STATUS) {
            Json.copy(current.path("metadata"), metadata, "ownerReferences");
            keepAllExcept("status", current, object);
        } else if (resource.hasStatus()) {
            Json.copy(current, object, "status");
        }
        if (resource.hasGeneration() && changesSpec(resource, current, object)) {
            metadata.put("generation", metadata.path("generation").asLong() + 1);
        }
        requireMutable(resource, key, current, object);
        ContentRules.check(resource, key, object);
        if (!resource.isCustom()) {
            // a kube-apiserver looks at those of a custom resource in its creation only
            MetadataRules.checkFinalizers(resource, key, metadata);
        }
        if (resource.isAccess()) {
            AccessRules.requireSameRole(resource, key, current, object);
        }
        return object;
    }

    /**
     * Returns the current pod with the ephemeral containers of another, in which they are a list or missing. Those that the pod
     * has already must be among them. A mirror pod can have none: its node would not start them.
     */
    private static ObjectNode withEphemeralContainers(ObjectKey key, ObjectNode current, ObjectNode object) {
        if (current.path("metadata").path("annotations").has(MIRROR)) {
            // upstream names the empty path, which it writes like this
            throw invalidPod(key, FieldError.forbidden("[]", "static pods do not support ephemeral containers"));
        }
        JsonNode wanted = object.path("spec").path(EPHEMERAL_CONTAINERS);
        Map<String, JsonNode> byName = new HashMap<>();
        Set<String> others = names(current.path("spec"));
        for (int i = 0; i < wanted.size(); i++) {
            String name = wanted.path(i).path("name").asText();
            String field = SPEC_EPHEMERAL + "[" + i + "].name";
            if (name.isEmpty()) {
                throw invalidPod(key, FieldError.required(field, ""));
            }
            if (others.contains(name) || byName.put(name, wanted.path(i)) != null) {
                throw invalidPod(key, FieldError.duplicate(field, name));
            }
        }
        for (JsonNode existing : current.path("spec").path(EPHEMERAL_CONTAINERS)) {
            String name = existing.path("name").asText();
            JsonNode container = byName.get(name);
            if (container == null || !container.equals(existing)) {
                String what = container == null ? "removed" : "changed";
                throw invalidPod(
                        key,
                        FieldError.forbidden(
                                SPEC_EPHEMERAL,
                                "existing ephemeral containers \"" + name + "\" may not be " + what + "\n"));
            }
        }
        ObjectNode pod = current.deepCopy();
        if (!wanted.isMissingNode()) {
            Json.object(pod, "spec").set(EPHEMERAL_CONTAINERS, wanted);
        }
        if (changesSpec(Resource.PODS, current, pod)) {
            ObjectNode metadata = Json.object(pod, "metadata");
            metadata.put("generation", metadata.path("generation").asLong() + 1);
        }
        return pod;
    }

    private static StatusException invalidPod(ObjectKey key, FieldError error) {
        return StatusException.invalid(Resource.PODS, key.name(), error);
    }

    /** Returns the names of all containers of a pod but the ephemeral ones. */
    private static Set<String> names(JsonNode spec) {
        Set<String> names = new HashSet<>();
        for (String field : new String[] {"initContainers", "containers"}) {
            spec.path(field)
                    .forEach(container -> names.add(container.path("name").asText()));
        }
        return names;
    }

    /** Returns whether the spec differs; of a custom resource, everything but metadata and status is its spec. */
    private static boolean changesSpec(Resource resource, ObjectNode current, ObjectNode object) {
        if (!resource.isCustom()) {
            return !current.path("spec").equals(object.path("spec"));
        }
        ObjectNode before = current.deepCopy();
        ObjectNode after = object.deepCopy();
        before.remove(NO_SPEC);
        after.remove(NO_SPEC);
        return !before.equals(after);
    }

    private static void requireNoNewFinalizers(Resource resource, ObjectKey key, JsonNode current, JsonNode metadata) {
        if (!current.has("deletionTimestamp")) {
            return;
        }
        Set<String> added = new TreeSet<>();
        metadata.path("finalizers").forEach(finalizer -> added.add(finalizer.asText()));
        current.path("finalizers").forEach(finalizer -> added.remove(finalizer.asText()));
        if (!added.isEmpty()) {
            String quoted = added.stream().map(name -> "\"" + name + "\"").collect(Collectors.joining(", "));
            throw StatusException.invalid(
                    resource,
                    key.name(),
                    FieldError.forbidden(
                            "metadata.finalizers",
                            "no new finalizers can be added if the object is being deleted, found new finalizers []string{"
                                    + quoted + "}"));
        }
    }

    /** Returns {@code time} as a timestamp with a precision of one second. */
    static String timestamp(Instant time) {
        return time.truncatedTo(ChronoUnit.SECONDS).toString();
    }

    private static ObjectNode normalised(Resource resource, ObjectKey key, ObjectNode body) {
        ObjectNode object = body.deepCopy();
        if (resource.isCustom()) {
            Json.dropNulls(object.path("metadata"));
        } else {
            // null is an empty value in a map or list, as Go decodes it
            ModelTypes.settleNulls(object, resource.model());
        }
        requireKind(resource, object);
        Json.model(object, resource.model());
        object.put("kind", resource.kind());
        object.put("apiVersion", resource.apiVersion());
        ObjectNode metadata = Json.object(object, "metadata");
        for (String field : OMITTED_IF_EMPTY) {
            Json.dropIfEmpty(metadata, field);
            if (!resource.isCustom()) {
                Json.dropIfEmpty(object, field);
            }
        }
        metadata.remove("managedFields");
        metadata.remove("selfLink");
        metadata.put("name", key.name());
        if (resource.namespaced()) {
            metadata.put("namespace", key.namespace());
        } else {
            metadata.remove("namespace");
        }
        if (resource.equals(Resource.SECRETS)) {
            normaliseSecret(object);
        }
        boolean builtIn = Resource.BUILT_IN.contains(resource);
        if (builtIn && (resource.hasStatus() || resource.equals(Resource.LEASES))) {
            Json.object(object, "spec");
        }
        if (resource.isAccess()) {
            AccessRules.normalise(resource, key, object);
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

    private static void normaliseSecret(ObjectNode secret) {
        JsonNode plain = secret.remove("stringData");
        if (plain != null) {
            ObjectNode data = Json.object(secret, "data");
            plain.properties()
                    .forEach(entry -> data.put(
                            entry.getKey(),
                            Base64.getEncoder()
                                    .encodeToString(entry.getValue().asText().getBytes(StandardCharsets.UTF_8))));
        }
        if (secret.path("type").asText().isEmpty()) {
            secret.put("type", "Opaque");
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
        if (version.isEmpty() && resource.requiresVersionInUpdate()) {
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
        if (resource.equals(Resource.SECRETS) && !current.path("type").equals(object.path("type"))) {
            String type = "\"" + object.path("type").asText() + "\"";
            throw StatusException.invalid(resource, key.name(), FieldError.invalid("type", type, "field is immutable"));
        }
        boolean payload = resource.equals(Resource.SECRETS) || resource.equals(Resource.CONFIG_MAPS);
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
