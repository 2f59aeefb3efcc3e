package dev.podcache.apiserver.http;

import java.time.Duration;

/**
 * The kind of traffic that a {@link ConnectionPool} carries.
 *
 * @param http2 whether to offer HTTP/2
 * @param spare whether to open a spare connection before it is needed
 * @param mostConnections the maximum number of connections; more requests wait
 * @param idle how long to keep an unused connection open
 * @param gated whether the {@link DialGate} decides when to dial the server
 */
record Traffic(boolean http2, boolean spare, int mostConnections, Duration idle, boolean gated) {

    private static final Duration LONGER_THAN_A_TTL = Duration.ofSeconds(90);

    static final Traffic WATCHES = new Traffic(true, true, 8192, Duration.ofSeconds(5), true);
    static final Traffic REQUESTS = new Traffic(true, false, 64, LONGER_THAN_A_TTL, true);
    static final Traffic HEARTBEATS = new Traffic(false, false, 1, LONGER_THAN_A_TTL, false);
}
