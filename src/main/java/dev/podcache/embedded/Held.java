package dev.podcache.embedded;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/** Requests that wait for a word from the test. Thread-safe. */
public final class Held {

    private static final Duration FORGOTTEN = Duration.ofSeconds(20);

    private final boolean readsAtRelease;
    private final AtomicInteger arrivals = new AtomicInteger();
    private final CompletableFuture<Void> firstArrival = new CompletableFuture<>();
    private final CompletableFuture<Void> release = new CompletableFuture<>();

    Held(boolean readsAtRelease) {
        this.readsAtRelease = readsAtRelease;
    }

    /**
     * Blocks until a request waits here.
     *
     * @throws IllegalStateException if none came within 20 s
     */
    public void awaitArrived() throws InterruptedException {
        try {
            firstArrival.get(FORGOTTEN.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException | ExecutionException e) {
            throw new IllegalStateException("no request came that was to be held", e);
        }
    }

    /** How many requests came here so far. */
    public int arrivals() {
        return arrivals.get();
    }

    /** Lets them go on, on the calling thread where the server allows it, and holds no further ones. Idempotent. */
    public void release() {
        release.complete(null);
    }

    boolean isReleased() {
        return release.isDone();
    }

    /** Whether the state that is answered is that of the release; if not, it is that of the arrival. */
    public boolean readsAtRelease() {
        return readsAtRelease;
    }

    /** For a server: a request is here now, and goes on when the returned future completes. */
    public CompletableFuture<Void> arrive() {
        arrivals.incrementAndGet();
        firstArrival.complete(null);
        return release;
    }
}
