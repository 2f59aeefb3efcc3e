package dev.podcache.kubelet.probe;

import com.google.common.base.Ascii;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The lookups of the names that probes and lifecycle hooks connect to. A container may have chosen a name, so they have
 * threads of their own, and each name has one lookup at a time, which all that ask for it share: a name whose lookup hangs
 * keeps no other one waiting. Must be closed. Thread-safe; does not block.
 */
final class ProbeLookups implements AutoCloseable {

    /** As many names as may hang before another one waits. */
    private static final int MOST_THREADS = 256;

    /** Short, because each lookup starts a thread unless there are as many as may be. */
    private static final Duration IDLE_THREAD = Duration.ofSeconds(1);

    private static final ThreadFactory THREADS = new DefaultThreadFactory("podcache-probe-lookup", true);

    private final HostAddresses resolver;
    private final ThreadPoolExecutor threads;

    /** The lookups that have not ended, by name. */
    private final ConcurrentMap<String, CompletableFuture<List<InetAddress>>> running = new ConcurrentHashMap<>();

    /** What knows the addresses of names. */
    @FunctionalInterface
    interface HostAddresses {

        /** Returns the addresses of a name, at least one. Blocks. */
        InetAddress[] of(String name) throws UnknownHostException;
    }

    ProbeLookups(HostAddresses resolver) {
        this.resolver = resolver;
        threads = new ThreadPoolExecutor(
                MOST_THREADS,
                MOST_THREADS,
                IDLE_THREAD.toMillis(),
                TimeUnit.MILLISECONDS,
                new LinkedBlockingQueue<>(),
                THREADS);
        threads.allowCoreThreadTimeOut(true);
    }

    /**
     * Returns the addresses of a name, from the lookup that runs already or from a new one.
     *
     * @throws java.util.concurrent.RejectedExecutionException if this is closed and no lookup of the name runs
     */
    CompletableFuture<List<InetAddress>> addresses(String host) {
        // one name in all spellings, or a redirect could start many lookups
        String name = Ascii.toLowerCase(host);
        CompletableFuture<List<InetAddress>> begun = new CompletableFuture<>();
        @Nullable CompletableFuture<List<InetAddress>> known = running.putIfAbsent(name, begun);
        if (known != null) {
            return known;
        }
        try {
            threads.execute(() -> lookUp(name, begun));
        } catch (RuntimeException | Error refused) {
            // another check may have joined it
            running.remove(name, begun);
            begun.completeExceptionally(refused);
            throw refused;
        }
        return begun;
    }

    private void lookUp(String name, CompletableFuture<List<InetAddress>> lookup) {
        try {
            List<InetAddress> found = List.of(resolver.of(name));
            // first, so that no check gets what was found before it began
            running.remove(name, lookup);
            lookup.complete(found);
        } catch (UnknownHostException | RuntimeException | Error e) {
            // catches everything, because the checks wait
            running.remove(name, lookup);
            lookup.completeExceptionally(e);
        }
    }

    /** Begins no further lookup. Those that were asked for still run. Idempotent. */
    @Override
    public void close() {
        threads.shutdown();
    }
}
