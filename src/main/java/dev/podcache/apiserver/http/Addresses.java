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
 * The addresses of one host, looked up by the JVM for each connection. There is one lookup at a time, on a thread of
 * {@link Timekeeper#urgent()}; if it fails, or hangs for 2 s, the addresses found before are used. Thread-safe.
 */
final class Addresses {

    private static final Duration PATIENCE = Duration.ofSeconds(2);

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

    /** Looks the host up. Never blocks. Ends with an {@link UnknownHostException} if no address was ever found. */
    CompletableFuture<List<InetAddress>> find() {
        if (InetAddresses.isInetAddress(host)) {
            return CompletableFuture.completedFuture(List.of(InetAddresses.forString(host)));
        }
        CompletableFuture<List<InetAddress>> shared;
        boolean begins;
        List<InetAddress> before;
        synchronized (this) {
            CompletableFuture<List<InetAddress>> underWay = lookup;
            begins = underWay == null;
            shared = underWay == null ? new CompletableFuture<>() : underWay;
            lookup = shared;
            before = known;
        }
        if (begins) {
            timekeeper.urgent().execute(() -> lookUp(shared));
        }
        if (before == null) {
            return shared.copy();
        }
        CompletableFuture<List<InetAddress>> result = shared.copy();
        Timekeeper.Scheduled patience = timekeeper.schedule(PATIENCE, () -> result.complete(before));
        result.whenComplete((found, failure) -> patience.cancel());
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
