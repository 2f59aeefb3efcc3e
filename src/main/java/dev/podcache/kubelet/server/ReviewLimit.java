package dev.podcache.kubelet.server;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.podcache.time.Timekeeper;
import dev.podcache.time.TokenBucket;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Semaphore;

/**
 * Limits the reviews of tokens that a client can cause: anyone can send random tokens, and reviews have one limit for the
 * whole node. A token that is accepted costs nothing. Thread-safe; no method blocks.
 */
final class ReviewLimit {

    /** Refused tokens of a network: as many at once, then one a second. Also how many may be under review. */
    static final int MOST_OF_SOURCE = 10;

    /** Refused tokens of a connection, which is then closed. */
    static final int MOST_OF_CONNECTION = 8;

    /** Reviews under way, whoever caused them. */
    static final int MOST_AT_A_TIME = 64;

    /** Refused tokens a second of all networks that sent one before: fewer than the reviews that the node may send. */
    private static final int PER_SECOND = 20;

    private static final int MOST_SOURCES = 4096;
    private static final Duration REMEMBERED = Duration.ofMinutes(5);

    private final Timekeeper timekeeper;
    private final Cache<String, SourceUse> sources;
    private final TokenBucket all;
    private final Semaphore reviews = new Semaphore(MOST_AT_A_TIME);

    /** What one network has caused. */
    private static final class SourceUse {
        private final TokenBucket refusals;
        private final Semaphore reviews = new Semaphore(MOST_OF_SOURCE);
        private volatile boolean suspect;

        SourceUse(Timekeeper timekeeper) {
            refusals = new TokenBucket(1, MOST_OF_SOURCE, timekeeper);
        }
    }

    /** A review that may be sent. Call {@link #end} once. */
    final class PermittedReview {
        private final ClientSource source;
        private final SourceUse use;

        private PermittedReview(ClientSource source, SourceUse use) {
            this.source = source;
            this.use = use;
        }

        /** @param accepted whether the token was accepted, or is not known to be refused */
        void end(boolean accepted) {
            use.reviews.release();
            reviews.release();
            if (!accepted) {
                source.refused().incrementAndGet();
                use.refusals.take(Duration.ZERO);
                use.suspect = true;
                all.take(Duration.ZERO);
            }
        }
    }

    ReviewLimit(Timekeeper timekeeper) {
        this.timekeeper = timekeeper;
        this.all = new TokenBucket(PER_SECOND, 2 * PER_SECOND, timekeeper);
        this.sources = Caffeine.newBuilder()
                .maximumSize(MOST_SOURCES)
                .expireAfterAccess(REMEMBERED)
                .ticker(timekeeper::nanoTime)
                .executor(Runnable::run)
                .build();
    }

    /**
     * Permits a review.
     *
     * @param known whether the token was accepted lately: only the number of reviews at a time limits it
     * @throws RefusedException with code 429 if the client has caused too many
     */
    PermittedReview begin(ClientSource source, boolean known) {
        SourceUse use = sources.get(source.network(), network -> new SourceUse(timekeeper));
        boolean tooMany = !known
                && (source.refused().get() >= MOST_OF_CONNECTION
                        || !use.refusals.untilNext().isZero()
                        || (use.suspect && !all.untilNext().isZero()));
        if (tooMany || !use.reviews.tryAcquire()) {
            throw tooMany();
        }
        if (!reviews.tryAcquire()) {
            use.reviews.release();
            throw tooMany();
        }
        return new PermittedReview(source, use);
    }

    private static RefusedException tooMany() {
        return new RefusedException(
                429,
                "this token was not reviewed, because too many others were refused or are under review; try again");
    }

    /** Returns the headers of an answer with code 429. */
    static Map<String, String> headers() {
        return Map.of("Retry-After", "1", "Connection", "close");
    }
}
