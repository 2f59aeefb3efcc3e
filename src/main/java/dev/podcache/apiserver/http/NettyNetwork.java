package dev.podcache.apiserver.http;

import dev.podcache.apiserver.http.ServerEndpoint.Target;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One event loop, and the connections that are opened on it. Thread-safe. */
final class NettyNetwork implements Executor, AutoCloseable {

    /*
     * loop      closed  what
     * failed    false   not started: start() starts it
     * pending   any     being started by the starter
     * complete  false   runs
     * complete  true    closes its connections and ends; execute() drops tasks once it has ended
     * failed    true    never started, and never will be
     */

    private static final Logger log = LoggerFactory.getLogger(NettyNetwork.class);
    private static final ThreadFactory THREADS = new DefaultThreadFactory("podcache-eventloop", true);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);

    private final Executor starter;
    private final ByteBufAllocator buffers;
    private final TlsHandlers tls = new TlsHandlers(); // belongs to the event loop, like the next one
    private final Set<NettyWire> open = new HashSet<>();
    private volatile CompletableFuture<EventLoopGroup> loop = CompletableFuture.failedFuture(
            new IllegalStateException("the event loop was not started before it was closed")); // written under this
    private boolean closed; // guarded by this

    /**
     * Creates a network without starting its thread.
     *
     * @param starter starts the thread, which takes about 100 ms
     */
    NettyNetwork(Executor starter) {
        this(starter, NettyWire.BUFFERS);
    }

    /** Creates a network whose connections have buffers of {@code buffers}. */
    NettyNetwork(Executor starter, ByteBufAllocator buffers) {
        this.starter = starter;
        this.buffers = buffers;
    }

    /** Starts the thread, unless it is running or this network is closed. Returns at once. */
    CompletableFuture<?> start() {
        CompletableFuture<EventLoopGroup> known = loop;
        if (!known.isCompletedExceptionally()) {
            return known;
        }
        CompletableFuture<EventLoopGroup> begun = new CompletableFuture<>();
        synchronized (this) {
            if (closed) {
                return CompletableFuture.completedFuture(null);
            }
            if (!loop.isCompletedExceptionally()) {
                return loop;
            }
            loop = begun;
        }
        try {
            return begun.completeAsync(() -> new NioEventLoopGroup(1, THREADS), starter);
        } catch (RuntimeException | Error e) {
            // the next call tries again
            begun.completeExceptionally(e);
            return begun;
        }
    }

    /**
     * Runs a task on the event loop. Drops it once the loop is closed, which closes the connections too. What the task
     * throws is logged.
     *
     * @throws CompletionException if the loop was never started
     */
    @Override
    public void execute(Runnable task) {
        try {
            loop.join().execute(() -> run(task));
        } catch (RejectedExecutionException closing) {
            log.debug("a task was dropped, because the event loop and its connections are closed", closing);
        }
    }

    private static void run(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            // catches everything, because Netty would log the task too, whatever its text shows
            log.error("a task of the event loop failed; this is a bug; going on", e);
        }
    }

    /**
     * Opens a connection. Must be called on the event loop.
     *
     * @throws RejectedExecutionException if this network is closed, because nothing would close the connection
     */
    Wire open(Target target, Wire.Listener listener) {
        EventLoopGroup group = loop.join();
        if (isClosed()) {
            throw new RejectedExecutionException("the event loop is closed");
        }
        NettyWire wire = new NettyWire(target, listener, group.next(), buffers);
        Channel channel = wire.open(tls);
        if (channel.isOpen()) {
            open.add(wire);
            channel.closeFuture().addListener(closed -> open.remove(wire));
        }
        return wire;
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    /** Closes every connection and stops the thread; waits at most 10 s for its end, unless called by it. Idempotent. */
    @Override
    public void close() {
        CompletableFuture<EventLoopGroup> begun;
        synchronized (this) {
            closed = true;
            begun = loop;
        }
        EventLoopGroup group = begun.handle((started, notStarted) -> started).join();
        if (group != null) {
            // Netty 4.2 may end without closing them
            execute(() -> List.copyOf(open).forEach(NettyWire::cut));
            end(group);
        }
    }

    private static void end(EventLoopGroup group) {
        // repeated, it changes nothing
        group.shutdownGracefully(0, CLOSE_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        try {
            if (!group.next().inEventLoop()
                    && !group.awaitTermination(CLOSE_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
                log.warn("the event loop did not end within {} s; its thread ends later", CLOSE_TIMEOUT.toSeconds());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
