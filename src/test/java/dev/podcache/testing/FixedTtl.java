package dev.podcache.testing;

import dev.podcache.store.ObjectTtlSource;
import java.time.Duration;

/** A TTL source whose value a test sets. */
public final class FixedTtl implements ObjectTtlSource {

    private volatile Duration ttl;

    private FixedTtl(Duration ttl) {
        this.ttl = ttl;
    }

    /** Creates a source with this TTL. */
    public static FixedTtl ofSeconds(long seconds) {
        return new FixedTtl(Duration.ofSeconds(seconds));
    }

    /** Changes the TTL. */
    public void set(Duration changed) {
        ttl = changed;
    }

    @Override
    public long ttlNanos() {
        return ttl.toNanos();
    }

    @Override
    public String origin() {
        return "set by the test";
    }
}
