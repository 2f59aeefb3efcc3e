package dev.podcache.embedded;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/** The requests that a fault holds until the test releases them. Thread-safe. */
public final class HeldRequests {

    private static final Duration ARRIVAL_TIMEOUT = Duration.ofSeconds(20);

    private final boolean readsAtRelease;
    private final AtomicInteger arrivals = new AtomicInteger();
    private final CompletableFuture<Void> firstArrival = new CompletableFuture<>();
    private final CompletableFuture<Void> release = new CompletableFuture<>();

    HeldRequests(boolean readsAtRelease) {
        this.readsAtRelease = readsAtRelease;
    }

    /**
     * Blocks until a request has arrived.
     *
     * @throws IllegalStateException if no request arrives within 20 s
     * @throws InterruptedException if the calling thread is interrupted while it waits
     */
    public void awaitArrived() throws InterruptedException {
        try {
            firstArrival.get(ARRIVAL_TIMEOUT.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException | ExecutionException e) {
            throw new IllegalStateException(
                    "no matching request arrived within " + ARRIVAL_TIMEOUT.toSeconds() + " s", e);
        }
    }

    /** Returns the number of requests that have arrived. */
    public int arrivals() {
        return arrivals.get();
    }

    /**
     * Releases the held requests, on the calling thread where the server allows it. Later requests are not held.
     * Idempotent.
     */
    public void release() {
        release.complete(null);
    }

    boolean isReleased() {
        return release.isDone();
    }

    /**
     * Returns whether an answer has the state at the release of the request; otherwise, it has the state at the
     * arrival.
     */
    public boolean readsAtRelease() {
        return readsAtRelease;
    }

    /**
     * Records the arrival of a request. The server must continue the request when the returned future completes. Called
     * by the server.
     */
    public CompletableFuture<Void> arrive() {
        arrivals.incrementAndGet();
        firstArrival.complete(null);
        return release;
    }
}
