package dev.podcache.store;

import java.time.Duration;

/** A TTL that a test sets. */
final class FixedTtl implements ObjectTtlSource {

    private volatile Duration ttl;

    FixedTtl(Duration ttl) {
        this.ttl = ttl;
    }

    static FixedTtl ofSeconds(long seconds) {
        return new FixedTtl(Duration.ofSeconds(seconds));
    }

    void set(Duration changed) {
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
