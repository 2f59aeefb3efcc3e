package dev.podcache.apiserver.http;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The credentials of the client, read once and shared by all requests. Those from files are read again every 10 s while
 * they are used. All are read again when the server refuses them (401) or a certificate is about to expire. Requests go on with
 * what is known meanwhile; only those that were refused, and those before the first reading, wait for it. There is one
 * reading at a time, on a thread of {@link Timekeeper#urgent()}, so a credential plugin that hangs occupies one thread.
 * Thread-safe.
 */
final class Credentials {

    private static final Logger log = LoggerFactory.getLogger(Credentials.class);
    private static final Duration FRESH = Duration.ofSeconds(10);

    /** However often the server refuses what was read: a plugin is a process, and 600 watches may be refused at once. */
    private static final Duration SHORTEST_PAUSE = Duration.ofSeconds(1);

    private static final Duration BEFORE_EXPIRY = Duration.ofMinutes(1);

    private final Supplier<IdentityReader> readers;
    private final Timekeeper timekeeper;
    private @Nullable IdentityReader reader; // used by the one reading only
    private boolean costly; // guarded by this, like all that follows
    private @Nullable Identity known;
    private long readAt; // nanoseconds; when the last reading ended
    private boolean readAgain; // whether that was another than the first, which finds what the client was made with
    private @Nullable CompletableFuture<Identity> reading;

    Credentials(Supplier<IdentityReader> readers, Timekeeper timekeeper) {
        this.readers = readers;
        this.timekeeper = timekeeper;
    }

    /** Returns what is known, or what the first reading will find. Never blocks. */
    CompletableFuture<Identity> current() {
        CompletableFuture<Identity> now;
        CompletableFuture<Identity> begun = null;
        synchronized (this) {
            Identity identity = known;
            if (reading == null && (identity == null || isDueLocked(identity))) {
                begun = new CompletableFuture<>();
                reading = begun;
            }
            now = identity != null
                    ? CompletableFuture.completedFuture(identity)
                    : Objects.requireNonNull(reading, "neither known nor being read");
        }
        read(begun);
        return now;
    }

    /**
     * Returns what is to be used after {@code refused} was of no use. Never blocks.
     *
     * @return the same identity if no other is to be had now
     */
    CompletableFuture<Identity> renewed(Identity refused) {
        CompletableFuture<Identity> now;
        CompletableFuture<Identity> begun = null;
        synchronized (this) {
            Identity identity = known;
            if (identity != null && !identity.isSame(refused)) {
                return CompletableFuture.completedFuture(identity);
            }
            if (reading == null && mayAskAgainLocked()) {
                begun = new CompletableFuture<>();
                reading = begun;
            }
            now = reading == null ? CompletableFuture.completedFuture(refused) : reading;
        }
        read(begun);
        return now;
    }

    private boolean isDueLocked(Identity identity) {
        if (timekeeper.nanoTime() - readAt < FRESH.toNanos()) {
            return false;
        }
        Instant expires = identity.expires();
        return !costly || (expires != null && timekeeper.wallTime().isAfter(expires.minus(BEFORE_EXPIRY)));
    }

    private boolean mayAskAgainLocked() {
        return !readAgain || timekeeper.nanoTime() - readAt >= SHORTEST_PAUSE.toNanos();
    }

    private void read(@Nullable CompletableFuture<Identity> begun) {
        if (begun != null) {
            timekeeper.urgent().execute(() -> readNow(begun));
        }
    }

    private void readNow(CompletableFuture<Identity> result) {
        Identity read = null;
        Throwable failure = null;
        boolean asks = false;
        boolean again = reader != null;
        try {
            IdentityReader used = reader;
            if (used == null) {
                used = readers.get();
                read = used.first();
                reader = used;
            } else {
                read = used.again();
            }
            asks = used.isCostly();
        } catch (RuntimeException | Error e) {
            // of whatever kind: requests wait for it
            failure = e;
        }
        Identity now;
        synchronized (this) {
            reading = null;
            readAt = timekeeper.nanoTime();
            readAgain = again;
            costly |= asks;
            // also if the identity is the same: the CAs may be others
            known = read == null ? known : read;
            now = known;
        }
        if (failure != null && now != null) {
            // its message may quote the file or the plugin's output
            log.warn(
                    "the credentials could not be read again ({}); those read before stay in use",
                    failure.getClass().getName());
        }
        if (now != null) {
            result.complete(now);
        } else {
            result.completeExceptionally(ApiServerException.causeOf(failure));
        }
    }
}
