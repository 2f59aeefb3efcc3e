package dev.podcache.apiserver.stream;

import com.google.common.collect.ImmutableList;
import io.vertx.core.AbstractVerticle;
import io.vertx.core.Context;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.PoolOptions;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The threads that move bytes: a few event loops, however many connections there are. Thread-safe. */
final class EventLoops implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(EventLoops.class);
    private static final Duration CLOSING = Duration.ofSeconds(10);

    private final Vertx vertx;
    private final ImmutableList<Context> loops;
    private final AtomicInteger turn = new AtomicInteger();
    private boolean closed; // guarded by this

    /** Starts {@code count} threads and waits for that. */
    EventLoops(int count) {
        vertx = Vertx.vertx(new VertxOptions()
                .setEventLoopPoolSize(count)
                .setWorkerPoolSize(1)
                .setInternalBlockingPoolSize(1)
                .setUseDaemonThread(true)
                .setFileSystemOptions(
                        new FileSystemOptions().setFileCachingEnabled(false).setClassPathResolvingEnabled(false)));
        // of a thread that is not its own, Vert.x gives each caller always the same loop
        Queue<Context> contexts = new ConcurrentLinkedQueue<>();
        vertx.deployVerticle(() -> new Settler(contexts), new DeploymentOptions().setInstances(count))
                .toCompletionStage()
                .toCompletableFuture()
                .join();
        loops = ImmutableList.copyOf(contexts);
    }

    private static final class Settler extends AbstractVerticle {

        private final Queue<Context> contexts;

        Settler(Queue<Context> contexts) {
            this.contexts = contexts;
        }

        @Override
        public void start(Promise<Void> started) {
            contexts.add(context);
            started.complete();
        }
    }

    /** The loop for the next connection. */
    Context next() {
        return loops.get(Math.floorMod(turn.getAndIncrement(), loops.size()));
    }

    /**
     * A client whose connections these loops carry; {@link #close()} closes it too.
     *
     * @throws RejectedExecutionException once closed: nothing could close it any more
     */
    synchronized HttpClient client(HttpClientOptions options, PoolOptions pool) {
        if (closed) {
            throw new RejectedExecutionException("the event loops are closed");
        }
        return vertx.createHttpClient(options, pool);
    }

    /** Has {@code task} run on {@code loop}, or nowhere once that is gone, and with it every connection. */
    static void post(Context loop, Runnable task) {
        try {
            loop.runOnContext(posted -> task.run());
        } catch (RejectedExecutionException closing) {
            log.debug("the event loop is gone and its connections with it", closing);
        }
    }

    /** Closes every connection and ends the threads; waits for them at most 10 s, unless called by one of them. */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
        }
        boolean ourOwnThread = Context.isOnVertxThread();
        try {
            var closing = vertx.close().toCompletionStage().toCompletableFuture();
            if (!ourOwnThread) {
                closing.get(CLOSING.toMillis(), TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            log.warn("the event loops did not end within {}", CLOSING, e);
        }
    }
}
