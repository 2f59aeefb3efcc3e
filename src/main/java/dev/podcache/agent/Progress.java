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

    // of the timer's thread, or of a test
    private Counts before = Counts.NONE;
    private long requestsBefore;

    Progress(Account account, ReadCounter counter, LongSupplier requestsAtServer) {
        this.account = account;
        this.counter = counter;
        this.requestsAtServer = requestsAtServer;
        this.requestsBefore = requestsAtServer.getAsLong();
    }

    void start(Duration period) {
        timer.scheduleAtFixedRate(() -> tell(period), period.toNanos(), period.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Tells what happened since it was last told, {@code period} ago. Says nothing if nothing was read. */
    void tell(Duration period) {
        Counts now = counter.counts();
        long requests = requestsAtServer.getAsLong();
        Counts added = now.since(before);
        long asked = requests - requestsBefore;
        before = now;
        requestsBefore = requests;
        if (added.reads() > 0) {
            account.tell(event(added, requests < 0 ? -1 : asked, period));
        }
    }

    private static Event event(Counts added, long requests, Duration period) {
        double seconds = period.toNanos() / 1e9;
        String stale = added.stale() == 0 ? "" : ", " + added.stale() + " served stale";
        String failed = added.failed() == 0 ? "" : ", " + added.failed() + " in vain";
        String rate =
                requests < 0 ? "" : String.format(Locale.ROOT, "; %.1f requests/s at the server", requests / seconds);
        ImmutableMap.Builder<String, Object> facts = ImmutableMap.<String, Object>builder()
                .put("reads", added.reads())
                .put("hits", added.hits())
                .put("staleServed", added.stale())
                .put("failed", added.failed())
                .put("fetches", added.fetches());
        if (requests >= 0) {
            facts.put("requestsAtServer", requests);
        }
        return new Event(
                "reads",
                added.reads() + " reads: " + added.hits() + " hits, " + added.fetchesText() + stale + failed + rate,
                facts.build());
    }

    @Override
    public void close() {
        timer.shutdownNow();
    }
}
