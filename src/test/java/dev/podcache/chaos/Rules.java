package dev.podcache.chaos;

import dev.podcache.manager.ChangeDetectionStrategy;
import java.time.Duration;

/**
 * What one strategy promises, in figures. {@link #SLACK} is for a machine on which much else runs.
 *
 * @param strategy which
 * @param longestGet how long a get takes at most
 * @param longestKnownGet the same of an object that was seen since its last new reference
 * @param freshFromChange by how much a value may be outdated while its state says FRESH, counted from the change,
 *     whatever goes wrong
 * @param freshInCalm the same from the change, when nothing has gone wrong for as long
 */
record Rules(
        ChangeDetectionStrategy strategy,
        Duration longestGet,
        Duration longestKnownGet,
        Duration freshFromChange,
        Duration freshInCalm) {

    static final Duration SLACK = Duration.ofSeconds(3);

    /** The TTL of a run, which it has from an annotation of the Node. */
    static final Duration TTL = Duration.ofSeconds(1);

    static final Duration READ_TIMEOUT = Duration.ofSeconds(10);
    private static final Duration FIRST_SYNC = Duration.ofSeconds(1);

    /** So long may the first attempt for an object take to reach the server, before the first-sync timeout begins. */
    private static final Duration REACHED_WITHIN = Duration.ofSeconds(10);

    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

    /*
     * P9: by how much a value may be outdated while its state says FRESH, counted from the change.
     */

    static final Duration FRESH_WATCH_HTTP2 = Duration.ofSeconds(25);

    /** The deadline of HTTP/1.1, see {@link #BOOKMARKED_WITHIN}, and what was under way before it. */
    static final Duration FRESH_WATCH_HTTP1 = Duration.ofSeconds(105);

    /** An answer may have been under way for the whole read timeout, and counts as fresh for the TTL from its arrival. */
    static final Duration FRESH_CACHE = TTL.plus(READ_TIMEOUT).plus(SLACK);

    /** P9: so soon a cache says STALE when its connection was reset, or its watch ended, and it could hear of it. */
    static final Duration LOSS_SEEN_WITHIN = Duration.ofSeconds(1);

    /** P9: so long after an attempt failed, no state is called FRESH because of it. */
    static final Duration FAILURE_SEEN_WITHIN = Duration.ofMillis(500);

    /** On HTTP/2: a ping every so often, and so long for its answer before the connection is closed, together. */
    static final Duration PINGED_WITHIN = Duration.ofSeconds(20);

    /** On HTTP/1.1: 90 s without a bookmark, and up to 10 s until a sweep notices it. */
    static final Duration BOOKMARKED_WITHIN = Duration.ofSeconds(100);

    /** Which HTTP carries the watches. */
    enum Transport {
        HTTP2(PINGED_WITHIN, FRESH_WATCH_HTTP2),
        HTTP1(BOOKMARKED_WITHIN, FRESH_WATCH_HTTP1);

        /** How soon a watch that brings nothing any more is given up. */
        final Duration deadWithin;

        final Duration freshFromChange;

        Transport(Duration deadWithin, Duration freshFromChange) {
            this.deadWithin = deadWithin;
            this.freshFromChange = freshFromChange;
        }
    }

    /**
     * An answer may have been under way for the whole read timeout, and counts as fresh for the TTL from its arrival. A
     * get waits for two flights at most, each a second if it has something to serve.
     */
    static Rules cache() {
        return new Rules(
                ChangeDetectionStrategy.CACHE,
                READ_TIMEOUT.plus(SLACK),
                Duration.ofSeconds(2).plus(SLACK),
                FRESH_CACHE,
                TTL.plusMillis(900));
    }

    /** News may be under way until its connection counts as dead. */
    static Rules watch(Transport transport) {
        return new Rules(
                ChangeDetectionStrategy.WATCH,
                REACHED_WITHIN.plus(FIRST_SYNC).plus(SLACK),
                FIRST_SYNC.plus(SLACK),
                transport.freshFromChange,
                Duration.ofMillis(1_500));
    }

    /** Every get asks, and nothing is known before. */
    static Rules get() {
        Duration longest = READ_TIMEOUT.plus(SLACK);
        return new Rules(ChangeDetectionStrategy.GET, longest, longest, Duration.ZERO, Duration.ZERO);
    }

    /**
     * P7: how soon after trouble of that length everything equals the server. Calms between its rounds are a part of it:
     * a calm ends when all is well again, and pauses are reset only 5 s later. Pauses double from 200 ms (WATCH) and from
     * a second (CACHE), and half of each is jitter, so the one that is under way when the trouble ends is at most twice
     * as long as the trouble and its first pause. What arrived at the end of it may be old, and is fresh for a TTL.
     */
    static Duration convergesAfter(Duration trouble) {
        Duration pause = trouble.multipliedBy(2).plusSeconds(1);
        Duration longest = pause.compareTo(LONGEST_PAUSE) < 0 ? pause : LONGEST_PAUSE;
        return longest.plus(TTL).plusMillis(500);
    }

    /**
     * Checks that each bound of calm is shorter than the shortest calm, which would not reach it.
     *
     * @throws IllegalStateException if one is not
     */
    Rules shorterThanCalm() {
        Duration shortest = convergesAfter(Duration.ZERO);
        if (freshInCalm.compareTo(shortest) >= 0) {
            throw new IllegalStateException(
                    strategy + " may be outdated for " + freshInCalm + " in calm, which may be over after " + shortest);
        }
        return this;
    }

    boolean isWatch() {
        return strategy == ChangeDetectionStrategy.WATCH;
    }

    boolean isCache() {
        return strategy == ChangeDetectionStrategy.CACHE;
    }

    boolean isGet() {
        return strategy == ChangeDetectionStrategy.GET;
    }
}
