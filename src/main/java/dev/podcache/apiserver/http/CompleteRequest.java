package dev.podcache.apiserver.http;

import org.jspecify.annotations.Nullable;

/** Implements {@link ServerRequest#of}. */
record CompleteRequest(
        String what, String method, String path, @Nullable Body body) implements ServerRequest {}
