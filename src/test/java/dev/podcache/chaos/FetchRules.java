package dev.podcache.chaos;

import dev.podcache.chaos.Claims.Claim;
import dev.podcache.store.EarlyRefusals;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/** P3: what the GETs of one cache are held to. Thread-safe. */
final class FetchRules {

    /*
     * A refresh is a GET of resourceVersion=0: first reads, and the checks of answers that are older than what is known,
     * ask for the latest. It leaves before its answer arrives, and from then on that is fresh for one TTL, so whatever
     * turns the threads take, the next refresh leaves at least one TTL after it. Not so
     *
     * - if it failed: the promise is about servers that answer. Then the next one comes after a pause. A body may break
     *   off after a good head, so whether a fetch failed says the cache; that it does not say so of each, see Minimums.
     * - if there was a new reference since the get that began it: then its answer is not kept. It leaves on another
     *   thread than that of the get, a moment later.
     *
     * All gets share one fetch. A new reference detaches it, so another may leave beside it; nothing else does that. One
     * that failed before is repeated for those who wait for it, however long it is detached. Its failures, which are
     * those of reads of the latest, say nothing about refreshes.
     */

    static final String REFRESH = "resourceVersion=0";

    /** So long after it was wanted a request may leave, on a machine on which much else runs. */
    static final Duration LEAVES_WITHIN = Duration.ofMillis(500);

    /** The first pause after a refresh that failed is from half a second to one. */
    static final Duration PAUSE = Duration.ofMillis(450);

    /** Requests that a get may be made of in a second, at most, by the pauses of a first read. */
    static final int REQUESTS_OF_A_GET = 6;

    private static final int REQUESTS_IN_A_WINDOW = 10;
    private static final long WINDOW = Duration.ofSeconds(1).toNanos();

    /** So long after a get began, the last of its requests may leave: it repeats what was refused. */
    private static final long GET_ASKS_FOR =
            EarlyRefusals.NODE.getWaits().plus(LEAVES_WITHIN).toNanos();

    private final World world;
    private final Rules rules;
    private final Claims claims;
    private final Map<CachedObject, FetchHistory> lines = new HashMap<>(); // guarded by this

    /** A request that failed, or whose fetch was given up. */
    private record FailedFetch(UUID id, long left, long failedAt) {}

    /** What is known of one object. Zero times mean: never. */
    private static final class FetchHistory {
        private final Map<UUID, Long> underWay = new HashMap<>();
        private final Set<UUID> refreshes = new HashSet<>(); // of those under way
        private final Deque<FailedFetch> failures = new ArrayDeque<>();
        private final Deque<Long> gets = new ArrayDeque<>();
        private final Deque<Long> requests = new ArrayDeque<>();
        private long refreshLeft;
        private long answeredLeft;
        private long failedLeft;
        private long failedAt;
    }

    /** Those of a cache with these claims. */
    FetchRules(World world, Rules rules, Claims claims) {
        this.world = world;
        this.rules = rules;
        this.claims = claims;
    }

    /** A get begins. */
    synchronized void got(CachedObject subject, long now) {
        Deque<Long> gets = line(subject).gets;
        gets.addLast(now);
        keepSince(gets, now - WINDOW - GET_ASKS_FOR);
    }

    /** A GET leaves. */
    synchronized void left(CachedObject subject, UUID id, boolean refresh, long now) {
        FetchHistory line = line(subject);
        Claim claim = claims.of(subject);
        checkBudget(subject, line, now);
        if (rules.isCache() && claim.isHeld()) {
            checkAlone(subject, line, claim, now);
        }
        if (refresh) {
            world.figures.count("refresh sent by " + rules.strategy());
            if (claim.isHeld()) {
                checkRefresh(subject, line, claim, now);
            }
            line.refreshLeft = now;
            line.refreshes.add(id);
        }
        line.underWay.put(id, now);
    }

    private void checkBudget(CachedObject subject, FetchHistory line, long now) {
        line.requests.addLast(now);
        keepSince(line.requests, now - WINDOW);
        keepSince(line.gets, now - WINDOW - GET_ASKS_FOR);
        int allowed = REQUESTS_IN_A_WINDOW + REQUESTS_OF_A_GET * line.gets.size();
        world.figures.most(rules.strategy() + " GETs of an object in a second", line.requests.size());
        if (line.requests.size() > allowed) {
            world.violations.add(
                    Shape.TOO_MANY_REQUESTS,
                    subject,
                    rules.strategy() + ": " + line.requests.size() + " GETs in a second, for " + line.gets.size()
                            + " gets that may still have asked");
        }
    }

    private void checkAlone(CachedObject subject, FetchHistory line, Claim claim, long now) {
        // those who waited for a request when it failed wait on for the repeated one, each for the read timeout at most
        line.failures.removeIf(failure -> failure.failedAt() < now - Rules.READ_TIMEOUT.toNanos());
        if (repeatsOfAnEarlierEpoch(line, claim, now)) {
            return;
        }
        long ofThisEpoch = begunIn(claim, now);
        for (long underWay : line.underWay.values()) {
            if (underWay > ofThisEpoch) {
                world.violations.add(
                        Shape.FETCHED_AT_ONCE,
                        subject,
                        rules.strategy() + ": a GET leaves while the one that left at " + RunTime.seconds(underWay)
                                + " is under way");
            }
        }
    }

    /** Whether a detached fetch may still be repeated. */
    private boolean repeatsOfAnEarlierEpoch(FetchHistory line, Claim claim, long now) {
        long ofThisEpoch = begunIn(claim, now);
        return line.failures.stream().anyMatch(failure -> failure.left() <= ofThisEpoch);
    }

    /** From when on what leaves is of this epoch for sure: before that it may have waited for a connection. */
    private long begunIn(Claim claim, long now) {
        long returned = claim.epoch().returned;
        boolean calm = world.calm.networkSince() < returned;
        Duration leavesWithin = calm ? LEAVES_WITHIN : Rules.READ_TIMEOUT;
        return world.stalls.hasRunAt(returned, leavesWithin, now);
    }

    private void checkRefresh(CachedObject subject, FetchHistory line, Claim claim, long now) {
        long sinceFailure = now - line.failedAt;
        if (line.failedAt > 0 && line.failedLeft > claim.epoch().returned && sinceFailure < PAUSE.toNanos()) {
            world.violations.add(
                    Shape.RETRIED_TOO_SOON,
                    subject,
                    "refreshed " + RunTime.seconds(sinceFailure) + " after an attempt that failed");
        }
        if (line.refreshLeft == 0
                || line.refreshLeft < world.stalls.hasRunAt(claim.epoch().began, LEAVES_WITHIN, now)) {
            return;
        }
        world.figures.count("refresh held to P3");
        if (now - line.refreshLeft < Rules.TTL.toNanos()) {
            world.violations.add(
                    Shape.REFRESHED_TOO_SOON,
                    subject,
                    "refreshed " + RunTime.seconds(now - line.refreshLeft) + " after it was, which had not failed");
        }
    }

    /** A GET ended, with an object or with NotFound if {@code answered}. */
    synchronized void ended(CachedObject subject, UUID id, boolean answered, long now) {
        FetchHistory line = line(subject);
        Long left = line.underWay.remove(id);
        boolean refresh = line.refreshes.remove(id);
        if (left == null) {
            if (answered) {
                answeredWithANewToken(line, id);
            }
            return;
        }
        if (!answered) {
            line.failures.addLast(new FailedFetch(id, left, now));
        }
        if (left < line.answeredLeft) {
            return;
        }
        if (answered) {
            world.figures.count("GET answered " + rules.strategy());
            line.answeredLeft = left;
            line.failedAt = 0;
        } else if (refresh || !repeatsOfAnEarlierEpoch(line, claims.of(subject), now)) {
            line.failedLeft = left;
            line.failedAt = now;
        }
    }

    /** The client repeats a request that was answered 401, with a new token, and tells of both answers. */
    private static void answeredWithANewToken(FetchHistory line, UUID id) {
        line.failures.stream()
                .filter(failure -> failure.id().equals(id) && failure.left() >= line.failedLeft)
                .findFirst()
                .ifPresent(repeated -> line.failedAt = 0);
    }

    /** A GET is over that never left, for want of a connection. */
    synchronized void notSent(CachedObject subject, long now) {
        line(subject).failures.addLast(new FailedFetch(UUID.randomUUID(), now, now));
    }

    /** A GET is over, answered or not. */
    synchronized void over(CachedObject subject, UUID id, long now) {
        FetchHistory line = line(subject);
        Long left = line.underWay.remove(id);
        if (left != null) {
            line.failures.addLast(new FailedFetch(id, left, now));
        }
    }

    /** A fetch failed, or found nothing, says the cache. */
    synchronized void toldFailed(CachedObject subject) {
        line(subject).refreshLeft = 0;
    }

    /** How long ago the latest attempt failed; 0 if it did not, or if one is under way. */
    synchronized long failedFor(CachedObject subject, long now) {
        FetchHistory line = line(subject);
        return line.failedAt == 0 ? 0 : now - line.failedAt;
    }

    /** The cache was closed: what is under way ends, and what comes is another's. */
    synchronized void clear() {
        lines.clear();
    }

    private static void keepSince(Deque<Long> moments, long since) {
        while (!moments.isEmpty() && moments.getFirst() < since) {
            moments.removeFirst();
        }
    }

    private FetchHistory line(CachedObject subject) {
        return lines.computeIfAbsent(subject, key -> new FetchHistory());
    }
}
