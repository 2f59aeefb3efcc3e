package dev.podcache.apiserver.http;

import org.jspecify.annotations.Nullable;

/**
 * One request to the API server. Immutable. A watch keeps its request as long as it is open, so its request consists of
 * parts that watches share.
 */
public interface ServerRequest {

    /** Returns the name of the request in messages, such as {@code PATCH Pod shop/web}; never contains content. */
    String what();

    /** Returns the HTTP method, such as {@code PATCH}. */
    String method();

    /** Returns the path and query, relative to the server's URL. */
    String path();

    /** Returns the body, or null. */
    @Nullable
    Body body();

    /**
     * The body of a request.
     *
     * @param mediaType the Content-Type, such as {@code application/json}
     */
    record Body(String mediaType, String json) {

        /** Returns type and length, without the content, which may be secret. */
        @Override
        public String toString() {
            return mediaType + " of " + json.length() + " characters";
        }
    }

    /** Returns a GET request. */
    static ServerRequest get(String what, String path) {
        return of(what, "GET", path, null);
    }

    /** Returns a request with these parts. */
    static ServerRequest of(String what, String method, String path, @Nullable Body body) {
        record CompleteRequest(
                String what,
                String method,
                String path,
                @Nullable Body body) implements ServerRequest {}

        return new CompleteRequest(what, method, path, body);
    }
}
