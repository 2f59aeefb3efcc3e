package dev.podcache.apiserver.http;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import java.time.Duration;

/** Starts an event loop for a client of Podcache or an endpoint of a node. */
public final class EventLoop {

    /** Vert.x would wake a thread each second, for each instance. An idle agent should sleep. */
    private static final Duration BLOCKED_CHECK = Duration.ofSeconds(10);

    private EventLoop() {}

    /**
     * Starts an event loop on a daemon thread. Vert.x writes no files and has as few other threads as possible.
     *
     * @return to be closed by the caller
     */
    public static Vertx start() {
        return Vertx.vertx(new VertxOptions()
                .setEventLoopPoolSize(1)
                .setWorkerPoolSize(1)
                .setInternalBlockingPoolSize(1)
                .setUseDaemonThread(true)
                .setBlockedThreadCheckInterval(BLOCKED_CHECK.toMillis())
                .setFileSystemOptions(
                        new FileSystemOptions().setFileCachingEnabled(false).setClassPathResolvingEnabled(false)));
    }
}
