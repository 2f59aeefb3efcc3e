package dev.podcache.apiserver.credentials;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.Quoted;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.RequestConfig;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The credentials of the client, which all requests share. Credentials from files are read again every 10 s while they
 * are in use. All credentials are read again when the server refuses them (401), or when they are about to expire.
 * During a read, requests use the known credentials; only refused requests, and requests before the first read, wait
 * for it. One read runs at a time, on a thread of {@link Timekeeper#urgent()}, so a credential plugin that hangs blocks
 * one thread. Thread-safe.
 */
public final class Credentials {

    private static final Logger log = LoggerFactory.getLogger(Credentials.class);
    private static final Duration REREAD_AFTER = Duration.ofSeconds(10);

    /** The minimum time between two reads, because a plugin is a process, and 600 watches may be refused at once. */
    private static final Duration SHORTEST_PAUSE = Duration.ofSeconds(1);

    private static final Duration BEFORE_EXPIRY = Duration.ofMinutes(1);

    private final Supplier<IdentityReader> readers;
    private final Timekeeper timekeeper;
    private @Nullable IdentityReader reader; // used by one read at a time
    private boolean costly; // guarded by this, like the fields below
    private @Nullable Identity known;
    private long readAt; // nanoseconds; the end of the last read
    private boolean reread; // whether that was not the first read, which returns what the client was created with
    private @Nullable CompletableFuture<Identity> reading;

    /** Sends requests to an identity provider. */
    @FunctionalInterface
    public interface ProviderRequests {

        /**
         * Sends one request, and waits for its answer for some seconds at most.
         *
         * @param connection names the provider's address, authority and proxy, and the client for a header
         * @param path with the query
         * @param form the body of a POST, in the form of a URL's query; null for a GET
         * @return the body of a 2xx answer
         * @throws ApiServerException if there is none
         * @throws CredentialsException if the settings of the connection cannot be used
         */
        byte[] send(Config connection, String path, @Nullable String form);
    }

    /**
     * Creates the credentials of a client. Reads nothing.
     *
     * @param requestConfig names the user to impersonate, if any
     * @param provider used only for a user with an identity provider
     */
    public Credentials(
            Config config,
            RequestConfig requestConfig,
            ServerUrl server,
            Timekeeper timekeeper,
            ProviderRequests provider) {
        this.readers = () -> new IdentityReader(config, requestConfig, server, timekeeper, provider);
        this.timekeeper = timekeeper;
    }

    /** Returns the known credentials, or the result of the first read. Never blocks. */
    public CompletableFuture<Identity> current() {
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
                    : Objects.requireNonNull(reading, "the credentials are neither known nor being read");
        }
        read(begun);
        return now;
    }

    /**
     * Returns the credentials to use after {@code refused} were not accepted. Never blocks.
     *
     * @return {@code refused} if no others are available now
     */
    public CompletableFuture<Identity> replacementFor(Identity refused) {
        CompletableFuture<Identity> now;
        CompletableFuture<Identity> begun = null;
        synchronized (this) {
            Identity identity = known;
            if (identity != null && !identity.isSame(refused)) {
                return CompletableFuture.completedFuture(identity);
            }
            if (reading == null && mayReadAgainLocked()) {
                begun = new CompletableFuture<>();
                reading = begun;
            }
            now = reading == null ? CompletableFuture.completedFuture(refused) : reading;
        }
        read(begun);
        return now;
    }

    /**
     * Reads the credentials again, because they were replaced before this call. Never blocks.
     *
     * @return the result of a read that began after this call; or exceptionally the failure, if no credentials are known
     */
    public CompletableFuture<Identity> reread() {
        CompletableFuture<Identity> begun = new CompletableFuture<>();
        CompletableFuture<Identity> before;
        synchronized (this) {
            before = reading;
            if (before == null) {
                reading = begun;
            }
        }
        if (before != null) {
            return before.handle((identity, thrown) -> "").thenCompose(any -> reread());
        }
        read(begun);
        return begun;
    }

    private boolean isDueLocked(Identity identity) {
        if (timekeeper.nanoTime() - readAt < REREAD_AFTER.toNanos()) {
            return false;
        }
        Instant expires = identity.expires();
        return !costly || (expires != null && timekeeper.wallTime().isAfter(expires.minus(BEFORE_EXPIRY)));
    }

    private boolean mayReadAgainLocked() {
        return !reread || timekeeper.nanoTime() - readAt >= SHORTEST_PAUSE.toNanos();
    }

    private void read(@Nullable CompletableFuture<Identity> begun) {
        if (begun == null) {
            return;
        }
        boolean submitted = false;
        try {
            timekeeper.urgent().execute(() -> readNow(begun));
            submitted = true;
        } finally {
            if (!submitted) {
                synchronized (this) {
                    reading = null;
                }
                begun.completeExceptionally(
                        new RejectedExecutionException("no thread could be started to read the credentials"));
            }
        }
    }

    private void readNow(CompletableFuture<Identity> result) {
        Identity read = null;
        Throwable failure = null;
        boolean readerIsCostly = false;
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
            readerIsCostly = used.isCostly();
        } catch (RuntimeException | Error e) {
            // catches everything, because requests wait for the result
            failure = e;
        }
        Identity now;
        synchronized (this) {
            reading = null;
            readAt = timekeeper.nanoTime();
            reread = again;
            costly |= readerIsCostly;
            // even if the identity is the same, because the CAs may have changed
            known = read == null ? known : read;
            now = known;
        }
        // first of all, because requests wait for it
        if (now == null) {
            result.completeExceptionally(ApiServerException.causeOf(failure));
        } else {
            result.complete(now);
            if (failure != null) {
                warn(failure);
            }
        }
    }

    private static void warn(Throwable failure) {
        // the message of another failure may quote a file
        String why = failure instanceof CredentialsException || failure instanceof ApiServerException
                ? Quoted.text(String.valueOf(failure.getMessage()))
                : failure.getClass().getName();
        log.warn(
                "the credentials could not be read again ({}); the old ones stay in use until a read succeeds;"
                        + " check the kubeconfig, its token and certificate files and its credential plugin",
                why);
    }
}
