package dev.podcache.apiserver.http;

import java.io.IOException;

/** The server ended a stream (RST_STREAM) before its answer was complete. */
final class StreamResetException extends IOException {

    StreamResetException(long code) {
        super("broke off the answer (HTTP/2 error " + code + ")");
    }
}
