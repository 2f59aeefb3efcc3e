package dev.podcache.apiserver.http;

import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Pings an HTTP/2 connection every 10 s. Without pings, a frozen connection looks like an idle one until the kernel
 * gives it up after many minutes. Any data counts as a sign of life, because on a slow network the answer to a ping
 * waits behind other data. Confined to the event loop of the connection.
 */
final class PingMonitor {

    /** The time between two pings, within which something must arrive. */
    static final Duration PERIOD = Duration.ofSeconds(10);

    private final Wire wire;
    private final Executor loop;
    private final Timekeeper timekeeper;
    private final Runnable whenDead;
    private boolean received = true; // whether anything arrived since the last ping
    private boolean stopped;
    private Timekeeper.@Nullable Scheduled next;

    /**
     * Creates a monitor without starting it.
     *
     * @param whenDead runs once on the event loop, if nothing arrives for one period
     */
    PingMonitor(Wire wire, Executor loop, Timekeeper timekeeper, Runnable whenDead) {
        this.wire = wire;
        this.loop = loop;
        this.timekeeper = timekeeper;
        this.whenDead = whenDead;
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

    /** Reports that something arrived. */
    void received() {
        received = true;
    }

    private void check() {
        if (stopped) {
            return;
        }
        if (!received) {
            stopped = true;
            whenDead.run();
            return;
        }
        received = false;
        try {
            wire.ping(this::received);
        } finally {
            // also if the ping could not be sent: then nothing arrives, and the connection is dead
            start();
        }
    }
}
