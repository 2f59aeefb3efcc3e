package dev.podcache.apiserver.stream;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ErrorAnswer;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientResponse;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads an answer other than 200, and has credentials renewed that the server did not know (401). */
final class Refusal {

    private static final Logger log = LoggerFactory.getLogger(Refusal.class);
    private static final int LONGEST = 64 * 1024;

    private final String what;
    private final String path;
    private final Endpoint endpoint;
    private final Executor blocking;

    /**
     * An answer to come.
     *
     * @param what was asked, for messages
     * @param path of what was asked
     * @param blocking where credentials are renewed, which may take a while
     */
    Refusal(String what, String path, Endpoint endpoint, Executor blocking) {
        this.what = what;
        this.path = path;
        this.endpoint = endpoint;
        this.blocking = blocking;
    }

    /**
     * Reads {@code response}. On its event loop.
     *
     * @param told what it means; called on the event loop, or by {@code blocking} once credentials were renewed
     */
    void read(HttpClientResponse response, Consumer<ApiServerException> told) {
        Buffer body = Buffer.buffer();
        response.handler(chunk -> {
            if (body.length() + chunk.length() <= LONGEST) {
                body.appendBuffer(chunk);
            }
        });
        response.endHandler(complete -> {
            int code = response.statusCode();
            ApiServerException failure = new ErrorAnswer(code, response.getHeader("Retry-After"), body.getBytes())
                    .toException(what, endpoint.timekeeper().wallTime());
            if (code == 401) {
                blocking.execute(() -> {
                    renewCredentials();
                    told.accept(failure);
                });
            } else {
                told.accept(failure);
            }
        });
    }

    private void renewCredentials() {
        try {
            endpoint.credentials().refused(endpoint.uri(path));
        } catch (RuntimeException e) {
            log.warn("{}: the credentials could not be renewed", what, e);
        }
    }
}
