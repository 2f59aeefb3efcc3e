package dev.podcache.cli.observe;

import com.google.common.collect.ImmutableMap;
import com.google.common.util.concurrent.ThreadFactoryBuilder;
import dev.podcache.cli.output.Account;
import dev.podcache.cli.output.Event;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells, once a period, how much was read and what it cost. */
final class Progress implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Progress.class);

    /** For {@code requestsAtServer} where the server does not say. */
    static final LongSupplier UNKNOWN = () -> -1;

    private static final Duration CLOSING = Duration.ofSeconds(2);

    private final Account account;
    private final ReadCounter counter;
    private final LongSupplier requestsAtServer;
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(new ThreadFactoryBuilder()
            .setNameFormat("agent-progress")
            .setDaemon(true)
            .build());

    // of the timer's thread once it is started
    private Counts before = Counts.NONE;
    private long requestsBefore;
    private double toldAt;

    Progress(Account account, ReadCounter counter, LongSupplier requestsAtServer) {
        this.account = account;
        this.counter = counter;
        this.requestsAtServer = requestsAtServer;
        this.requestsBefore = requestsAtServer.getAsLong();
        this.toldAt = account.seconds();
    }

    /** Begins to tell, first after {@code delay} and then once a period. */
    void start(Duration delay, Duration period) {
        requestsBefore = requestsAtServer.getAsLong();
        toldAt = account.seconds();
        timer.scheduleAtFixedRate(this::tellOnce, delay.toNanos(), period.toNanos(), TimeUnit.NANOSECONDS);
    }

    private void tellOnce() {
        try {
            tell();
        } catch (RuntimeException e) {
            // thrown on, it would silently end the timer and with it every later line
            log.error("what was read could not be told; the next line comes all the same", e);
        }
    }

    /** Tells what happened since it was last told. Says nothing if nothing was read. */
    void tell() {
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
        String line = String.format(
                Locale.ROOT,
                "%-5d hits %-5d stale %-5d waited %-5d %s%s",
                added.reads(),
                added.hits(),
                added.stale(),
                added.waited(),
                rate,
                added.fetches().isEmpty() ? "" : added.fetchesText());
        ImmutableMap<String, Object> facts = ImmutableMap.<String, Object>builder()
                .put("reads", added.reads())
                .put("hits", added.hits())
                .put("staleServed", added.stale())
                .put("waited", added.waited())
                .put("failed", added.failed())
                .put("fetches", added.fetches())
                .buildOrThrow();
        return new Event("reads", line.stripTrailing(), facts);
    }

    /** Tells the rest and ends. Idempotent. */
    @Override
    public void close() {
        if (timer.isShutdown()) {
            return;
        }
        timer.execute(this::tellOnce);
        timer.shutdown();
        try {
            timer.awaitTermination(CLOSING.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
