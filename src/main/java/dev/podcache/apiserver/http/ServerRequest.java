package dev.podcache.apiserver.http;

import org.jspecify.annotations.Nullable;

/**
 * One request to the API server. Immutable.
 *
 * @param what names the request in messages, such as {@code PATCH Pod shop/web}; never contains content
 * @param method the HTTP method, such as {@code PATCH}
 * @param path the path and query, relative to the server's URL
 * @param body the body, or null
 */
public record ServerRequest(
        String what, String method, String path, @Nullable Body body) {

    /**
     * The body of a request.
     *
     * @param mediaType the Content-Type, such as {@code application/json}
     */
    public record Body(String mediaType, String json) {

        /** Returns type and length, without the content, which may be secret. */
        @Override
        public String toString() {
            return mediaType + " of " + json.length() + " characters";
        }
    }

    /** Returns a GET request. */
    public static ServerRequest get(String what, String path) {
        return new ServerRequest(what, "GET", path, null);
    }
}
