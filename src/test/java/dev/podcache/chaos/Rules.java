package dev.podcache.chaos;

import dev.podcache.manager.ChangeDetectionStrategy;
import java.time.Duration;

/**
 * What one strategy promises, in figures. {@link #SLACK} is for a machine on which much else runs.
 *
 * @param strategy which
 * @param longestGet how long a get takes at most
 * @param longestKnownGet the same of an object that was seen since its last new reference
 * @param freshWithin by how much a value may be outdated while its state says FRESH, whatever goes wrong
 * @param freshInCalm the same when nothing has gone wrong for {@code calmAfter}
 */
record Rules(
        ChangeDetectionStrategy strategy,
        Duration longestGet,
        Duration longestKnownGet,
        Duration freshWithin,
        Duration freshInCalm,
        Duration calmAfter) {

    static final Duration SLACK = Duration.ofSeconds(3);

    /** The TTL of a run, which it has from an annotation of the Node. */
    static final Duration TTL = Duration.ofSeconds(2);

    private static final Duration READ_TIMEOUT = Duration.ofSeconds(10);
    private static final Duration FIRST_SYNC = Duration.ofSeconds(1);

    /** On HTTP/2: a ping every so often, and so long for its answer before the connection is closed, together. */
    static final Duration PINGED_WITHIN = Duration.ofSeconds(20);

    /** On HTTP/1.1: so long without a bookmark. */
    static final Duration BOOKMARKED_WITHIN = Duration.ofSeconds(90);

    /** So long after the end of a fault the API server itself may be behind its storage. */
    private static final Duration SETTLED_AFTER = Duration.ofSeconds(12);

    /**
     * An answer may have been under way for the whole read timeout, and counts as fresh for the TTL from its arrival. A
     * get waits for two flights at most, each a second if it has something to serve.
     */
    static Rules cache() {
        return new Rules(
                ChangeDetectionStrategy.CACHE,
                READ_TIMEOUT.plus(SLACK),
                Duration.ofSeconds(2).plus(SLACK),
                TTL.plus(READ_TIMEOUT).plus(SLACK),
                TTL.plusSeconds(1).plus(SLACK),
                TTL.plus(SETTLED_AFTER));
    }

    /**
     * News may be under way until its connection counts as dead.
     *
     * @param deadWithin how soon it does
     */
    static Rules watch(Duration deadWithin) {
        return new Rules(
                ChangeDetectionStrategy.WATCH,
                FIRST_SYNC.plus(SLACK),
                FIRST_SYNC.plus(SLACK),
                deadWithin.plus(SLACK),
                SLACK,
                SETTLED_AFTER);
    }

    boolean isWatch() {
        return strategy == ChangeDetectionStrategy.WATCH;
    }
}
