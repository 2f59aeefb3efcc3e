package dev.podcache.apiserver.stream;

import dev.podcache.apiserver.ApiServerException;
import io.vertx.core.http.HttpClientResponse;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The request that makes a connection nobody needs yet, because Vert.x makes none without a request: the server's
 * version, which it tells to everybody it knows. What it answers does not matter.
 */
final class Probe implements Exchange.Answer {

    private static final Logger log = LoggerFactory.getLogger(Probe.class);
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private Probe() {}

    static Exchange of(Endpoint endpoint) {
        return new Exchange(new Exchange.Ask("GET /version", "/version", PATIENCE, true), new Probe(), endpoint);
    }

    @Override
    public void begins(Exchange exchange, HttpClientResponse response) {
        response.endHandler(complete -> exchange.end(null));
    }

    @Override
    public void ended(@Nullable ApiServerException failure) {
        if (failure != null) {
            log.debug("a spare connection was not made, or its first request refused", failure);
        }
    }
}
