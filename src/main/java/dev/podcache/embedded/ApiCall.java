package dev.podcache.embedded;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.object.ObjectKey;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import java.io.IOException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** One HTTP request for an object or a collection: its path, verb, parameters and body. */
record ApiCall(HttpServerRequest http, RequestPath path, Verb verb, Buffer body) {

    /**
     * Derives the verb of a request from its HTTP method, path and {@code watch} parameter.
     *
     * @throws StatusException 405 if the path does not allow the method
     */
    static ApiCall of(HttpServerRequest http, RequestPath path, Buffer body) {
        Verb verb = verbOf(http, path);
        if (verb == null) {
            throw StatusException.of(
                    405, "MethodNotAllowed", "the server does not allow this method on the requested resource");
        }
        return new ApiCall(http, path, verb, body);
    }

    /** Returns the verb of a request, or null if its path does not allow its method. */
    static @Nullable Verb verbOf(HttpServerRequest http, RequestPath path) {
        boolean collection = path.isCollection();
        boolean creatable = collection
                && path.resource().namespaced() != path.key().namespace().isEmpty();
        String watch = http.getParam("watch", "");
        boolean watching = watch.equals("1") || watch.equals("true");
        String method = http.method().name();
        if (path.resource().isReview()) {
            return creatable && method.equals("POST") ? Verb.CREATE : null;
        }
        return switch (method) {
            case "GET" -> watching ? Verb.WATCH : collection ? Verb.LIST : Verb.GET;
            case "POST" -> creatable ? Verb.CREATE : null;
            case "PUT" -> collection ? null : Verb.UPDATE;
            case "PATCH" -> collection ? null : Verb.PATCH;
            case "DELETE" ->
                collection
                        ? (creatable && path.resource().canDeleteCollection() ? Verb.DELETECOLLECTION : null)
                        : path.part() == ObjectPart.OBJECT ? Verb.DELETE : null;
            default -> null;
        };
    }

    /** Returns a query parameter, or "" if it is not given. */
    String parameter(String name) {
        return http.getParam(name, "");
    }

    /**
     * Returns a query parameter as a number of seconds, or 0 if it is not given.
     *
     * @throws StatusException 400 if the parameter is not a number of at most nine digits
     */
    long seconds(String name) {
        String text = parameter(name);
        if (!text.isEmpty() && (text.length() > 9 || !text.chars().allMatch(c -> c >= '0' && c <= '9'))) {
            throw StatusException.badRequest(name + ": Invalid value: \"" + text + "\": must be a number of seconds");
        }
        return text.isEmpty() ? 0 : Long.parseLong(text);
    }

    /**
     * Returns a query parameter as a number, or 0 if it is not given.
     *
     * @throws StatusException 400 if the parameter is not a number of at most nine digits
     */
    long number(String name) {
        String text = parameter(name);
        if (!text.matches("\\d{0,9}")) {
            throw StatusException.badRequest(name + ": Invalid value: \"" + text + "\": must be a number");
        }
        return text.isEmpty() ? 0 : Long.parseLong(text);
    }

    /**
     * Returns whether a watch must begin with the current objects and a bookmark that marks their end.
     *
     * @throws StatusException 422 if the parameters contradict each other, 400 if they are not supported
     */
    boolean sendsInitialEvents() {
        String match = parameter("resourceVersionMatch");
        String send = parameter("sendInitialEvents");
        boolean notOlderThan = match.equals("NotOlderThan");
        if (send.isEmpty() && !match.isEmpty()) {
            throw StatusException.invalidOption(
                    "resourceVersionMatch",
                    "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
        }
        if (!send.isEmpty() && !notOlderThan) {
            throw StatusException.invalidOption(
                    "resourceVersionMatch", "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
        }
        if (send.equals("false") || send.equals("0")) {
            throw StatusException.badRequest("this server does not support sendInitialEvents=false");
        }
        return !send.isEmpty();
    }

    /** Returns the selection of a list or watch. If the path names an object, that object alone is selected. */
    Selection selection() {
        Selection selection = Selection.everything()
                .in(path.key().namespace())
                .withFields(path.resource(), parameter("fieldSelector"))
                .withLabels(parameter("labelSelector"));
        return path.isCollection()
                ? selection
                : selection.withFields(
                        path.resource(), "metadata.name=" + path.key().name());
    }

    /** Returns the description of this call that fault patterns match and logs show. */
    ApiRequest request() {
        boolean selects = verb == Verb.LIST || verb == Verb.WATCH || verb == Verb.DELETECOLLECTION;
        String name = selects ? selection().name() : path.key().name();
        return new ApiRequest(verb, path.resource(), ObjectKey.of(path.key().namespace(), name));
    }

    /** Returns whether the Accept header asks for a Table, as {@code kubectl get} does. */
    boolean wantsTable() {
        return http.headers().get("Accept") != null && http.getHeader("Accept").contains("as=Table");
    }

    /** Returns the media type of the body in lower case and without parameters, or "" if none is given. */
    String mediaType() {
        String type = http.getHeader("Content-Type");
        int semicolon = type == null ? -1 : type.indexOf(';');
        String bare = type == null ? "" : semicolon < 0 ? type : type.substring(0, semicolon);
        return bare.strip().toLowerCase(Locale.ROOT);
    }

    /**
     * Returns the body as a JSON object.
     *
     * @throws StatusException 400 if the body is not a JSON object, 415 if its media type is neither JSON nor supported
     *     protobuf
     */
    ObjectNode bodyObject() {
        if (mediaType().equals(ProtobufBody.MEDIA_TYPE)) {
            return ProtobufBody.decode(body.getBytes());
        }
        if (!mediaType().isEmpty() && !mediaType().equals("application/json")) {
            throw StatusException.of(
                    415,
                    "UnsupportedMediaType",
                    "the body of the request was in an unknown format - accepted media types include:"
                            + " application/json");
        }
        if (bodyTree() instanceof ObjectNode object) {
            return object;
        }
        throw StatusException.badRequest("the body of the request must be a JSON object");
    }

    /**
     * Returns the body as JSON.
     *
     * @throws StatusException 400 if the body is not JSON
     */
    JsonNode bodyTree() {
        try {
            return Json.MAPPER.readTree(body.getBytes());
        } catch (JsonProcessingException e) {
            // the message of the parser quotes the body
            throw StatusException.badRequest("the body of the request is not JSON" + at(e.getLocation()));
        } catch (IOException e) {
            throw new AssertionError("reading from memory", e);
        }
    }

    /**
     * Describes where parsing failed. The location is null if a number, a text or the nesting exceeds a limit of the
     * parser.
     */
    private static String at(@Nullable JsonLocation location) {
        return location == null
                ? ": a part of it is too long or nested too deeply"
                : ": error at line " + location.getLineNr() + ", column " + location.getColumnNr();
    }

    /** Returns the verb, resource and key. The body is left out because it may contain a secret. */
    @Override
    public String toString() {
        return "ApiCall[" + request() + "]";
    }
}
