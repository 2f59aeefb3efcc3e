package dev.podcache.apiserver.stream;

import dev.podcache.time.Timekeeper;
import io.vertx.core.Context;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpConnection;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Asks an HTTP/2 connection every 10 s whether it is alive. A frozen connection otherwise looks like one on which
 * nothing happens, until the kernel gives it up after many minutes. Confined to the event loop of the connection.
 */
final class Pulse {

    /** Between two pings, and how long each may remain unanswered. */
    static final Duration PERIOD = Duration.ofSeconds(10);

    private static final Buffer PAYLOAD = Buffer.buffer(new byte[Long.BYTES]);

    private final HttpConnection wire;
    private final Context loop;
    private final Timekeeper timekeeper;
    private final Told told;
    private boolean unanswered;
    private boolean stopped;
    private Timekeeper.@Nullable Scheduled next;

    /** Told on the event loop. */
    interface Told {

        /** A period is over, and the connection is not known to be dead. */
        void tick();

        /** No answer for a whole period. The last call. */
        void dead();
    }

    Pulse(HttpConnection wire, Context loop, Timekeeper timekeeper, Told told) {
        this.wire = wire;
        this.loop = loop;
        this.timekeeper = timekeeper;
        this.told = told;
    }

    void start() {
        next = timekeeper.schedule(PERIOD, () -> EventLoops.post(loop, this::beat));
    }

    void stop() {
        stopped = true;
        if (next != null) {
            next.cancel();
        }
    }

    private void beat() {
        if (stopped) {
            return;
        }
        if (unanswered) {
            stopped = true;
            told.dead();
            return;
        }
        told.tick();
        if (stopped) {
            return;
        }
        unanswered = true;
        wire.ping(PAYLOAD).onSuccess(pong -> unanswered = false);
        start();
    }
}
