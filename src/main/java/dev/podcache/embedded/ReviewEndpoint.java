package dev.podcache.embedded;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableListMultimap;
import com.google.common.collect.ImmutableSet;
import java.util.Optional;

/** Answers reviews: may somebody do something? Whose is a token? */
final class ReviewEndpoint {

    // After pkg/registry/authorization/*/rest.go, pkg/apis/authorization/validation and
    // pkg/registry/authentication/tokenreview/storage.go of kubernetes/kubernetes.

    private final AccessControl access;

    ReviewEndpoint(AccessControl access) {
        this.access = access;
    }

    /**
     * Answers a review.
     *
     * @param caller who sends it
     * @param body the review; it is completed with the answer
     * @throws StatusException 400 or 422 if the review is not valid
     */
    ObjectNode answer(Caller caller, RequestPath path, ObjectNode body) {
        Resource resource = path.resource();
        requireKind(resource, body);
        ObjectNode review = body.deepCopy();
        review.put("kind", resource.kind()).put("apiVersion", resource.apiVersion());
        ObjectNode metadata = Json.object(review, "metadata");
        metadata.putNull("creationTimestamp");
        ObjectNode spec = Json.object(review, "spec");
        review.set("status", status(caller, resource, path.key().namespace(), metadata, spec));
        return review;
    }

    private ObjectNode status(
            Caller caller, Resource resource, String namespace, ObjectNode metadata, ObjectNode spec) {
        if (resource.equals(Resource.TOKEN_REVIEWS)) {
            return owner(spec);
        }
        if (resource.equals(Resource.SELF_SUBJECT_REVIEWS)) {
            ObjectNode status = Json.MAPPER.createObjectNode();
            describe(caller, status.putObject("userInfo"));
            return status;
        }
        return resource.equals(Resource.SELF_SUBJECT_RULES_REVIEWS)
                ? rules(caller, spec)
                : decision(resource, namespace, caller, metadata, spec);
    }

    private ObjectNode owner(ObjectNode spec) {
        String token = spec.path("token").asText();
        if (token.isEmpty()) {
            throw StatusException.badRequest("token is required for TokenReview in authentication");
        }
        ObjectNode status = Json.MAPPER.createObjectNode();
        ObjectNode user = status.putObject("user");
        ImmutableList.Builder<String> wanted = ImmutableList.builder();
        spec.path("audiences").forEach(audience -> wanted.add(audience.asText()));
        ImmutableList<String> audiences = TokenEndpoint.audiences(token, wanted.build());
        Optional<Caller> owner = audiences.isEmpty() ? Optional.empty() : access.ownerOf(token);
        if (owner.isEmpty()) {
            return status.put("error", "invalid bearer token");
        }
        describe(owner.get(), user);
        audiences.forEach(status.putArray("audiences")::add);
        return status.put("authenticated", true);
    }

    private static void describe(Caller caller, ObjectNode user) {
        user.put("username", caller.name());
        if (!caller.uid().isEmpty()) {
            user.put("uid", caller.uid());
        }
        caller.groups().forEach(user.putArray("groups")::add);
    }

    private static void requireKind(Resource resource, ObjectNode body) {
        String kind = body.path("kind").asText(resource.kind());
        String apiVersion = body.path("apiVersion").asText(resource.apiVersion());
        if (!kind.equals(resource.kind()) || !apiVersion.equals(resource.apiVersion())) {
            throw StatusException.badRequest("the object provided is a " + apiVersion + " " + kind
                    + ", but this resource takes " + resource.apiVersion() + " " + resource.kind());
        }
    }

    private ObjectNode decision(
            Resource resource, String namespace, Caller caller, ObjectNode metadata, ObjectNode spec) {
        JsonNode object = spec.path("resourceAttributes");
        JsonNode path = spec.path("nonResourceAttributes");
        if (object.isObject() == path.isObject()) {
            throw invalid(FieldError.invalid(
                    "spec.resourceAttributes",
                    "\"null\"",
                    "exactly one of nonResourceAttributes or resourceAttributes must be specified"));
        }
        boolean self = resource.equals(Resource.SELF_SUBJECT_ACCESS_REVIEWS);
        Caller subject = self ? caller : subject(spec);
        if (resource.equals(Resource.LOCAL_SUBJECT_ACCESS_REVIEWS)) {
            requireNamespace(namespace, metadata, object);
        }
        RbacAuthorizer.AuthorizerAnswer answer = access.decide(question(subject, object, path));
        ObjectNode status = Json.MAPPER.createObjectNode().put("allowed", answer.allowed());
        if (!answer.reason().isEmpty()) {
            status.put("reason", answer.reason());
        }
        return status;
    }

    private static void requireNamespace(String namespace, JsonNode metadata, JsonNode object) {
        if (object.isMissingNode()) {
            throw invalid(
                    FieldError.invalid("spec.nonResourceAttributes", "\"\"", "disallowed on this kind of request"));
        }
        String own = metadata.path("namespace").asText();
        if (!object.path("namespace").asText().equals(own)) {
            throw invalid(FieldError.invalid(
                    "spec.resourceAttributes.namespace",
                    object.path("namespace").toString(),
                    "must match metadata.namespace"));
        }
        if (!own.isEmpty() && !own.equals(namespace)) {
            throw StatusException.badRequest(
                    "the namespace of the provided object does not match the namespace sent on the request");
        }
    }

    private static AuthorizerQuestion question(Caller subject, JsonNode object, JsonNode path) {
        return object.isObject()
                ? new AuthorizerQuestion(
                        subject,
                        object.path("verb").asText(),
                        object.path("group").asText(),
                        object.path("resource").asText(),
                        object.path("subresource").asText(),
                        object.path("namespace").asText(),
                        object.path("name").asText(),
                        "")
                : new AuthorizerQuestion(
                        subject,
                        path.path("verb").asText(),
                        "",
                        "",
                        "",
                        "",
                        "",
                        path.path("path").asText());
    }

    private static Caller subject(ObjectNode spec) {
        ImmutableList.Builder<String> groups = ImmutableList.builder();
        spec.path("groups").forEach(group -> groups.add(group.asText()));
        ImmutableListMultimap.Builder<String, String> extra = ImmutableListMultimap.builder();
        spec.path("extra")
                .properties()
                .forEach(entry -> entry.getValue().forEach(value -> extra.put(entry.getKey(), value.asText())));
        Caller subject =
                new Caller(spec.path("user").asText(), spec.path("uid").asText(), groups.build(), extra.build());
        if (subject.name().isEmpty() && subject.groups().isEmpty()) {
            throw invalid(FieldError.invalid("spec.user", "\"\"", "at least one of user or group must be specified"));
        }
        return subject;
    }

    private ObjectNode rules(Caller caller, ObjectNode spec) {
        String namespace = spec.path("namespace").asText();
        if (namespace.isEmpty()) {
            throw StatusException.badRequest("no namespace on request");
        }
        RbacAuthorizer.HeldRules held = access.rulesOf(caller, namespace);
        ObjectNode status = Json.MAPPER.createObjectNode();
        ArrayNode resourceRules = status.putArray("resourceRules");
        ArrayNode nonResourceRules = status.putArray("nonResourceRules");
        for (PolicyRule rule : held.rules()) {
            if (!rule.resources().isEmpty()) {
                ObjectNode one = resourceRules.addObject();
                add(one, "verbs", rule.verbs());
                add(one, "apiGroups", rule.groups());
                add(one, "resources", rule.resources());
                add(one, "resourceNames", rule.names());
            }
            if (!rule.paths().isEmpty()) {
                ObjectNode one = nonResourceRules.addObject();
                add(one, "verbs", rule.verbs());
                add(one, "nonResourceURLs", rule.paths());
            }
        }
        status.put("incomplete", !held.errors().isEmpty());
        if (!held.errors().isEmpty()) {
            status.put("evaluationError", RbacAuthorizer.joined(held.errors()));
        }
        return status;
    }

    private static void add(ObjectNode rule, String field, ImmutableSet<String> values) {
        if (!values.isEmpty()) {
            values.forEach(rule.putArray(field)::add);
        }
    }

    private static StatusException invalid(FieldError error) {
        // a kube-apiserver leaves out the kind
        return StatusException.of(422, "Invalid", ".authorization.k8s.io \"\" is invalid: " + error.message());
    }
}
