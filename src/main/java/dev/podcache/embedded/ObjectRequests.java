package dev.podcache.embedded;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.collect.ImmutableList;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Executes the requests for objects, except watches, against the cluster. */
final class ObjectRequests {

    private static final String SERVER_SIDE_APPLY = "application/apply-patch+yaml";
    private static final ImmutableList<String> KIND_AND_VERSION = ImmutableList.of("kind", "apiVersion");

    private final InMemoryCluster cluster;
    private final Tables tables;
    private final AccessControl access;
    private final ReviewEndpoint reviews;

    ObjectRequests(InMemoryCluster cluster, Tables tables, AccessControl access) {
        this.cluster = cluster;
        this.tables = tables;
        this.access = access;
        this.reviews = new ReviewEndpoint(access);
    }

    /** Executes a request and returns its answer. A {@link StatusException} becomes an error answer. */
    HttpAnswer answer(ApiCall call) {
        try {
            AuthorizerQuestion asked = access.require(call.http());
            requireSupported(call);
            return switch (call.verb()) {
                case GET -> get(call);
                case LIST -> list(call);
                case CREATE -> create(call, asked);
                case UPDATE -> update(call, asked);
                case PATCH -> patch(call, asked);
                case DELETE -> delete(call);
                case DELETECOLLECTION -> deleteCollection(call);
                case WATCH -> throw new AssertionError("a watch is answered by a stream");
            };
        } catch (StatusException e) {
            return HttpAnswer.error(e);
        }
    }

    private static void requireSupported(ApiCall call) {
        requireNoDryRun(!call.parameter("dryRun").isEmpty());
        if (call.verb() == Verb.LIST && !call.parameter("sendInitialEvents").isEmpty()) {
            throw StatusException.invalidOption("sendInitialEvents", "sendInitialEvents is forbidden for list");
        }
        if (call.parameter("resourceVersionMatch").equals("Exact")) {
            throw StatusException.badRequest(
                    "this server does not support resourceVersionMatch=Exact: it keeps the latest state only");
        }
    }

    private static void requireNoDryRun(boolean dryRun) {
        if (dryRun) {
            throw StatusException.badRequest("this server does not support dry runs");
        }
    }

    private HttpAnswer get(ApiCall call) {
        RequestPath path = call.path();
        ObjectNode object = cluster.get(path.resource(), path.key(), call.parameter("resourceVersion"));
        return objectAnswer(call, 200, object);
    }

    private HttpAnswer list(ApiCall call) {
        Resource resource = call.path().resource();
        ListPage page =
                ListPage.of(call.parameter("resourceVersion"), call.number("limit"), call.parameter("continue"));
        return listAnswer(call, cluster.list(resource, call.selection(), page));
    }

    private HttpAnswer deleteCollection(ApiCall call) {
        ObjectList deleted = cluster.deleteCollection(call.path().resource(), call.selection(), deleteOptions(call));
        return listAnswer(call, deleted);
    }

    private HttpAnswer listAnswer(ApiCall call, ObjectList found) {
        Resource resource = call.path().resource();
        if (call.wantsTable()) {
            return HttpAnswer.json(200, tables.table(resource, found.items(), found.resourceVersion()));
        }
        ObjectNode list = Json.MAPPER.createObjectNode();
        list.put("kind", resource.kind() + "List");
        list.put("apiVersion", resource.apiVersion());
        ObjectNode metadata = list.putObject("metadata").put("resourceVersion", found.resourceVersion());
        if (!found.continueToken().isEmpty()) {
            metadata.put("continue", found.continueToken());
        }
        if (found.remainingItemCount() > 0) {
            metadata.put("remainingItemCount", found.remainingItemCount());
        }
        ArrayNode items = list.putArray("items");
        for (ObjectNode object : found.items()) {
            ObjectNode item = items.addObject();
            item.setAll(object);
            if (!resource.isCustom()) {
                // a kube-apiserver leaves out the kind and apiVersion of the items of its own kinds
                item.remove(KIND_AND_VERSION);
            }
        }
        return HttpAnswer.json(200, list);
    }

    private HttpAnswer create(ApiCall call, AuthorizerQuestion asked) {
        RequestPath path = call.path();
        if (path.resource().isReview()) {
            return HttpAnswer.json(201, reviews.answer(asked.caller(), path, call.bodyObject()));
        }
        ObjectNode created =
                cluster.create(path.resource(), path.key().namespace(), call.bodyObject(), access.checkOf(asked));
        return objectAnswer(call, 201, created);
    }

    private HttpAnswer update(ApiCall call, AuthorizerQuestion asked) {
        RequestPath path = call.path();
        AtomicBoolean created = new AtomicBoolean();
        WriteCheck check = access.checkOf(asked);
        ObjectNode updated = cluster.update(
                path.resource(), path.key(), path.part(), call.bodyObject(), (resource, key, before, after) -> {
                    created.set(before == null);
                    check.write(resource, key, before, after);
                });
        return objectAnswer(call, created.get() ? 201 : 200, updated);
    }

    private HttpAnswer patch(ApiCall call, AuthorizerQuestion asked) {
        RequestPath path = call.path();
        for (PatchBody.PatchType type : PatchBody.PatchType.values()) {
            if (type.mediaType().equals(call.mediaType())) {
                PatchBody patch = new PatchBody(type, call.bodyTree());
                return objectAnswer(
                        call,
                        200,
                        cluster.patch(path.resource(), path.key(), path.part(), patch, access.checkOf(asked)));
            }
        }
        throw StatusException.of(
                415,
                "UnsupportedMediaType",
                "the body of the request was in an unknown format - accepted media types include:"
                        + " application/json-patch+json, application/merge-patch+json,"
                        + " application/strategic-merge-patch+json"
                        + (call.mediaType().equals(SERVER_SIDE_APPLY) ? "; this server has no server-side apply" : ""));
    }

    private HttpAnswer delete(ApiCall call) {
        RequestPath path = call.path();
        ObjectNode last = cluster.delete(path.resource(), path.key(), deleteOptions(call));
        if (path.resource().equals(Resource.PODS) || last.path("metadata").has("deletionTimestamp")) {
            return objectAnswer(call, 200, last);
        }
        return HttpAnswer.json(
                200,
                Json.tree(new StatusBuilder()
                        .withNewMetadata()
                        .endMetadata()
                        .withStatus("Success")
                        .withNewDetails()
                        .withName(path.key().name())
                        .withKind(path.resource().plural())
                        .withUid(last.path("metadata").path("uid").asText())
                        .endDetails()
                        .build()));
    }

    private static DeleteOptions deleteOptions(ApiCall call) {
        ObjectNode body = call.body().length() == 0 ? Json.MAPPER.createObjectNode() : call.bodyObject();
        Json.dropNulls(body);
        Json.dropIfEmpty(body, "dryRun");
        requireNoDryRun(body.has("dryRun"));
        requireBackground(call, body);
        String inUrl = call.parameter("gracePeriodSeconds");
        Long grace = inUrl.isEmpty() ? null : Long.valueOf(call.seconds("gracePeriodSeconds"));
        if (body.has("gracePeriodSeconds")) {
            grace = body.path("gracePeriodSeconds").asLong();
        }
        Function<String, @Nullable String> precondition = field -> {
            String value = body.path("preconditions").path(field).asText();
            return value.isEmpty() ? null : value;
        };
        return new DeleteOptions(grace, precondition.apply("uid"), precondition.apply("resourceVersion"));
    }

    private static void requireBackground(ApiCall call, ObjectNode body) {
        String policy = body.path("propagationPolicy").asText(call.parameter("propagationPolicy"));
        String orphan = body.path("orphanDependents").asText(call.parameter("orphanDependents"));
        if (!(policy.isEmpty() || policy.equals("Background")) || orphan.equals("true")) {
            throw StatusException.badRequest(
                    "this server has no garbage collector: it supports no propagationPolicy but"
                            + " Background, which leaves the dependents");
        }
    }

    private HttpAnswer objectAnswer(ApiCall call, int code, ObjectNode object) {
        return HttpAnswer.json(code, call.wantsTable() ? tables.row(call.path().resource(), object) : object);
    }
}
