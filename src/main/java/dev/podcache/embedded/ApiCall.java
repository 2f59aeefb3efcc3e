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

/** One HTTP request for objects: what it asks, with which parameters, and what it brings. */
record ApiCall(HttpServerRequest http, RequestPath path, Verb verb, Buffer body) {

    /**
     * Finds out what is asked.
     *
     * @throws StatusException 405 if nobody can ask that of this path
     */
    static ApiCall of(HttpServerRequest http, RequestPath path, Buffer body) {
        return new ApiCall(http, path, verbOf(http, path), body);
    }

    private static Verb verbOf(HttpServerRequest http, RequestPath path) {
        boolean collection = path.isCollection();
        boolean creatable = collection
                && path.resource().namespaced() != path.key().namespace().isEmpty();
        String watch = http.getParam("watch", "");
        boolean watching = watch.equals("1") || watch.equals("true");
        Verb verb = null;
        switch (http.method().name()) {
            case "GET" -> verb = watching ? Verb.WATCH : collection ? Verb.LIST : Verb.GET;
            case "POST" -> verb = creatable ? Verb.CREATE : null;
            case "PUT" -> verb = collection ? null : Verb.UPDATE;
            case "PATCH" -> verb = collection ? null : Verb.PATCH;
            case "DELETE" -> verb = collection || path.part() == Part.STATUS ? null : Verb.DELETE;
            default -> {}
        }
        if (verb == null) {
            throw StatusException.of(
                    405, "MethodNotAllowed", "the server does not allow this method on the requested resource");
        }
        return verb;
    }

    String parameter(String name) {
        return http.getParam(name, "");
    }

    /** A parameter that is a number of seconds, or 0 if it is not given. */
    long seconds(String name) {
        String text = parameter(name);
        if (!text.isEmpty() && (text.length() > 9 || !text.chars().allMatch(c -> c >= '0' && c <= '9'))) {
            throw StatusException.badRequest(name + ": Invalid value: \"" + text + "\": not a number of seconds");
        }
        return text.isEmpty() ? 0 : Long.parseLong(text);
    }

    /** What a list or watch selects; an object's own path selects that object. */
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

    /** What faults are told of it. */
    ApiRequest request() {
        boolean selects = verb == Verb.LIST || verb == Verb.WATCH;
        String name = selects ? selection().name() : path.key().name();
        return new ApiRequest(verb, path.resource(), ObjectKey.of(path.key().namespace(), name));
    }

    boolean wantsTable() {
        return http.headers().get("Accept") != null && http.getHeader("Accept").contains("as=Table");
    }

    /** The media type of the body, without parameters. */
    String mediaType() {
        String type = http.getHeader("Content-Type");
        int semicolon = type == null ? -1 : type.indexOf(';');
        String bare = type == null ? "" : semicolon < 0 ? type : type.substring(0, semicolon);
        return bare.strip().toLowerCase(Locale.ROOT);
    }

    /** The body, which must be a JSON object. */
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
        throw StatusException.badRequest("the body of the request is no JSON object");
    }

    /** The body, which must be JSON. */
    JsonNode bodyTree() {
        try {
            return Json.MAPPER.readTree(body.getBytes());
        } catch (JsonProcessingException e) {
            // the parser's own message quotes what it read
            throw StatusException.badRequest("the body of the request is not JSON" + at(e.getLocation()));
        } catch (IOException e) {
            throw new AssertionError("reading from memory", e);
        }
    }

    /** Unknown for a number, a text or a nesting that is longer than the parser takes. */
    private static String at(@Nullable JsonLocation location) {
        return location == null
                ? ": a part of it is too long or nested too deeply"
                : ": error at line " + location.getLineNr() + ", column " + location.getColumnNr();
    }

    /** What is asked, without the body: it may hold a secret. */
    @Override
    public String toString() {
        return "ApiCall[" + request() + "]";
    }
}
