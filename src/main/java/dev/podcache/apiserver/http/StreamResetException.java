package dev.podcache.apiserver.http;

import java.io.IOException;

/** Thrown if the server reset a stream (RST_STREAM) before the answer was complete. */
final class StreamResetException extends IOException {

    StreamResetException(long code) {
        super("reset the stream before the answer was complete (HTTP/2 error " + code + ")");
    }
}
