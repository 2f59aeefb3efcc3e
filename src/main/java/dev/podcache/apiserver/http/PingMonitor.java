package dev.podcache.apiserver.http;

import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Asks an HTTP/2 connection every 10 s whether it is alive. A frozen connection otherwise looks like one on which
 * nothing happens, until the kernel gives it up after many minutes. Whatever arrives shows life, not only the answer:
 * on a slow way that waits behind what else is sent. Confined to the event loop of the connection.
 */
final class PingMonitor {

    /** Between two pings, and how long each may remain without a sign of life. */
    static final Duration PERIOD = Duration.ofSeconds(10);

    private final Wire wire;
    private final Executor loop;
    private final Timekeeper timekeeper;
    private final Runnable dead;
    private boolean heard = true; // since the last ping
    private boolean stopped;
    private Timekeeper.@Nullable Scheduled next;

    /**
     * A monitor that has not begun.
     *
     * @param dead runs once on the event loop when nothing came for a period
     */
    PingMonitor(Wire wire, Executor loop, Timekeeper timekeeper, Runnable dead) {
        this.wire = wire;
        this.loop = loop;
        this.timekeeper = timekeeper;
        this.dead = dead;
    }

    void start() {
        next = timekeeper.schedule(PERIOD, () -> loop.execute(this::check));
    }

    void stop() {
        stopped = true;
        if (next != null) {
            next.cancel();
        }
    }

    /** Something arrived. */
    void heard() {
        heard = true;
    }

    private void check() {
        if (stopped) {
            return;
        }
        if (!heard) {
            stopped = true;
            dead.run();
            return;
        }
        heard = false;
        wire.ping(this::heard);
        start();
    }
}
