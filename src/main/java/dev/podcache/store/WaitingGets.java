package dev.podcache.store;

import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The gets that wait for the next change of one entry. Guarded by the entry. */
final class WaitingGets<T> {

    private @Nullable CompletableFuture<@Nullable Answer<T>> change; // null if none waits

    /** Returns a future that completes with the next change. */
    CompletableFuture<@Nullable Answer<T>> future() {
        if (change == null) {
            change = new CompletableFuture<>();
        }
        return change;
    }

    /** Wakes the gets. Gives them the answer if it is not null, because it may be evicted before they look it up. */
    void wakeLocked(Entry<T> entry, @Nullable Answer<T> current) {
        CompletableFuture<@Nullable Answer<T>> awaited = change;
        if (awaited != null) {
            change = null;
            entry.deferLocked(() -> awaited.complete(current));
        }
    }
}
