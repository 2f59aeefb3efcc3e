package dev.podcache.agent;

import com.google.common.collect.ImmutableMap;
import com.google.common.util.concurrent.ThreadFactoryBuilder;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** Tells, once a period, how much was read and what it cost. */
final class Progress implements AutoCloseable {

    /** For {@code requestsAtServer} where the server does not say. */
    static final LongSupplier UNKNOWN = () -> -1;

    private final Account account;
    private final ReadCounter counter;
    private final LongSupplier requestsAtServer;
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(new ThreadFactoryBuilder()
            .setNameFormat("agent-progress")
            .setDaemon(true)
            .build());

    private Counts before = Counts.NONE; // guarded by this
    private long requestsBefore; // guarded by this
    private double toldAt; // guarded by this
    private boolean closed; // guarded by this

    Progress(Account account, ReadCounter counter, LongSupplier requestsAtServer) {
        this.account = account;
        this.counter = counter;
        this.requestsAtServer = requestsAtServer;
        this.requestsBefore = requestsAtServer.getAsLong();
        this.toldAt = account.seconds();
    }

    void start(Duration period) {
        timer.scheduleAtFixedRate(this::tell, period.toNanos(), period.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Tells what happened since it was last told. Says nothing if nothing was read. */
    synchronized void tell() {
        if (closed) {
            return;
        }
        Counts now = counter.counts();
        long requests = requestsAtServer.getAsLong();
        double at = account.seconds();
        Counts added = now.since(before);
        if (added.reads() > 0) {
            double perSecond = (requests - requestsBefore) / Math.max(0.001, at - toldAt);
            account.tell(event(added, requests < 0 ? "" : String.format(Locale.ROOT, "requests/s %-6.1f ", perSecond)));
        }
        before = now;
        requestsBefore = requests;
        toldAt = at;
    }

    private static Event event(Counts added, String rate) {
        String text = String.format(
                Locale.ROOT,
                "%-5d hits %-5d stale %-5d waited %-5d %s%s",
                added.reads(),
                added.hits(),
                added.stale(),
                added.waited(),
                rate,
                added.fetchesText());
        ImmutableMap<String, Object> facts = ImmutableMap.<String, Object>builder()
                .put("reads", added.reads())
                .put("hits", added.hits())
                .put("staleServed", added.stale())
                .put("waited", added.waited())
                .put("failed", added.failed())
                .put("fetches", added.fetches())
                .buildOrThrow();
        return new Event("reads", text, facts);
    }

    /** Tells the rest and ends. Idempotent. */
    @Override
    public void close() {
        timer.shutdownNow();
        tell();
        synchronized (this) {
            closed = true;
        }
    }
}
