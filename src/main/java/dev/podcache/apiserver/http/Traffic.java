package dev.podcache.apiserver.http;

import java.time.Duration;

/**
 * What a {@link ConnectionPool} is for.
 *
 * @param http2 whether HTTP/2 is offered
 * @param spare whether a connection is opened before it is needed
 * @param mostConnections how many there may be; what needs more waits
 * @param idle for how long a connection that carries nothing is kept
 * @param gated whether it is the {@link DialGate} that says when the server may be dialled
 */
record Traffic(boolean http2, boolean spare, int mostConnections, Duration idle, boolean gated) {

    private static final Duration LONGER_THAN_A_TTL = Duration.ofSeconds(90);

    static final Traffic WATCHES = new Traffic(true, true, 8192, Duration.ofSeconds(5), true);
    static final Traffic REQUESTS = new Traffic(true, false, 64, LONGER_THAN_A_TTL, true);
    static final Traffic HEARTBEATS = new Traffic(false, false, 1, LONGER_THAN_A_TTL, false);
}
