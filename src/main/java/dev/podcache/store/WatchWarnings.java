package dev.podcache.store;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs watches that begin to fail, at most one every 10 s: a lost connection loses hundreds of watches. Thread-safe.
 */
final class WatchWarnings {

    private static final Logger log = LoggerFactory.getLogger(WatchObjectStore.class);
    private static final long INTERVAL = Duration.ofSeconds(10).toNanos();

    private final ObjectKind<?> kind;
    private final AtomicLong nextAt;
    private final AtomicInteger unreported = new AtomicInteger(); // failures since the last warning

    WatchWarnings(ObjectKind<?> kind, long now) {
        this.kind = kind;
        this.nextAt = new AtomicLong(now);
    }

    /** Reports that a watch failed whose last attempt had succeeded. */
    void failed(ObjectKey key, ApiServerException cause, long now) {
        long due = nextAt.get();
        if (now - due >= 0 && nextAt.compareAndSet(due, now + INTERVAL)) {
            int others = unreported.getAndSet(0);
            String more = others == 0 ? "" : "; " + others + " more have failed since the last warning";
            log.warn("watch of {} {} failed; retrying: {}{}", kind, key, cause.getMessage(), more);
        } else {
            unreported.incrementAndGet();
        }
    }
}
