package dev.podcache.apiserver.http;

import com.google.common.net.InetAddresses;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.time.Timekeeper;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The addresses of one host name, which the JVM looks up for each connection. One lookup runs at a time, on a thread of
 * {@link Timekeeper#urgent()}. If it fails, or takes longer than 2 s, the last known addresses are used.
 * Thread-safe.
 */
final class Addresses {

    private static final Duration FALLBACK_AFTER = Duration.ofSeconds(2);

    private final String host;
    private final Timekeeper timekeeper;
    private @Nullable List<InetAddress> known; // guarded by this
    private @Nullable CompletableFuture<List<InetAddress>> lookup; // guarded by this

    Addresses(String host, Timekeeper timekeeper) {
        this.host = host;
        this.timekeeper = timekeeper;
    }

    String host() {
        return host;
    }

    /** Looks up the addresses. Never blocks. Fails with an {@link UnknownHostException} if no lookup ever succeeded. */
    CompletableFuture<List<InetAddress>> find() {
        if (InetAddresses.isInetAddress(host)) {
            return CompletableFuture.completedFuture(List.of(InetAddresses.forString(host)));
        }
        CompletableFuture<List<InetAddress>> shared;
        boolean starts;
        List<InetAddress> before;
        synchronized (this) {
            CompletableFuture<List<InetAddress>> running = lookup;
            starts = running == null;
            shared = running == null ? new CompletableFuture<>() : running;
            lookup = shared;
            before = known;
        }
        if (starts) {
            timekeeper.urgent().execute(() -> lookUp(shared));
        }
        if (before == null) {
            return shared.copy();
        }
        CompletableFuture<List<InetAddress>> result = shared.copy();
        Timekeeper.Scheduled fallback = timekeeper.schedule(FALLBACK_AFTER, () -> result.complete(before));
        result.whenComplete((found, failure) -> fallback.cancel());
        return result;
    }

    private void lookUp(CompletableFuture<List<InetAddress>> result) {
        List<InetAddress> found = null;
        Throwable failure = null;
        try {
            found = List.of(InetAddress.getAllByName(host));
        } catch (UnknownHostException | RuntimeException | Error e) {
            failure = e;
        }
        List<InetAddress> now;
        synchronized (this) {
            lookup = null;
            known = found == null ? known : found;
            now = known;
        }
        if (now != null) {
            result.complete(now);
        } else {
            result.completeExceptionally(ApiServerException.causeOf(failure));
        }
    }
}
