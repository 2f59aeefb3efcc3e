package dev.podcache;

import dev.podcache.store.ObjectTtlSource;

/** The TTL of a cache without a Node. */
record DefaultTtl(long ttlNanos, String origin) implements ObjectTtlSource {}
