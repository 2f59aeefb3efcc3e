package dev.podcache.apiserver.http;

import org.jspecify.annotations.Nullable;

/**
 * One request to the API server. Immutable.
 *
 * @param what for messages, such as {@code PATCH Pod shop/web}; never any content
 * @param method such as {@code PATCH}
 * @param path path and query below the server's URL
 * @param body null if nothing is sent
 */
public record ServerRequest(
        String what, String method, String path, @Nullable Body body) {

    /**
     * What is sent.
     *
     * @param mediaType such as {@code application/json}
     */
    public record Body(String mediaType, String json) {

        /** Without the content, which may be a secret. */
        @Override
        public String toString() {
            return mediaType + " of " + json.length() + " characters";
        }
    }

    /** A GET. */
    public static ServerRequest get(String what, String path) {
        return new ServerRequest(what, "GET", path, null);
    }
}
