package dev.podcache.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/** What must be so when nothing goes wrong any more, and when nobody refers to anything any more. */
final class Ending {

    /** The longest pause between attempts is 30 s; an attempt that began before the faults ended takes 10 s. */
    private static final Duration CONVERGED_WITHIN = Duration.ofSeconds(40);

    private static final Duration CLOSED_WITHIN = Duration.ofSeconds(15);
    private static final Duration COLLECTED_WITHIN = Duration.ofSeconds(10);
    private static final Duration POLL = Duration.ofMillis(100);

    private final World world;
    private final List<CacheUnderTest> caches;

    Ending(World world, List<CacheUnderTest> caches) {
        this.world = world;
        this.caches = caches;
    }

    /** P7: waits until every registered object equals the server's, and answers how long each cache took. */
    Map<CacheUnderTest, Duration> converge() {
        Map<CacheUnderTest, Duration> took = new LinkedHashMap<>();
        long began = world.time.now();
        for (CacheUnderTest cache : caches) {
            if (cache.rules.isGet()) {
                continue;
            }
            List<Read> different = new ArrayList<>();
            do {
                LockSupport.parkNanos(POLL.toNanos());
                different = different(cache);
            } while (!different.isEmpty() && world.time.now() - began < CONVERGED_WITHIN.toNanos());
            took.put(cache, Duration.ofNanos(world.time.now() - began));
            for (Read read : different) {
                Version current = world.history(read.subject()).current();
                world.violations.add(
                        Shape.NOT_CONVERGED,
                        read.subject(),
                        cache + " is not " + current + " after " + CONVERGED_WITHIN + ": " + read);
            }
        }
        return took;
    }

    private List<Read> different(CacheUnderTest cache) {
        return world.subjects.stream()
                .filter(subject -> cache.claims.of(subject).isHeld())
                .map(cache::read)
                .filter(read -> !isConverged(world.history(read.subject()), read.outcome()))
                .toList();
    }

    /**
     * Whether that is the server's present state, or one that nobody asks for again because it
     * says that it never changes.
     */
    static boolean isConverged(History history, ReadOutcome outcome) {
        Version current = history.current();
        if (outcome instanceof ReadOutcome.FoundObject found) {
            Version version = history.withMarker(found.marker());
            return version != null && (version.equals(current) || version.immutable());
        }
        return current.isAbsence() && CacheUnderTest.isAnswer(outcome);
    }

    /** P5: nothing reaches what a cache has handed out when nobody refers to it any more. */
    private void checkNothingIsReachable(CacheUnderTest cache) {
        long reachable = cache.handed().reachable(COLLECTED_WITHIN);
        if (reachable > 0) {
            world.violations.add(
                    Shape.REACHABLE,
                    cache + ": " + reachable + " objects are still in memory although all pods are gone");
        }
    }

    /** P5: after the last pod is gone, nothing is held, and no watch is open that was not before. */
    void checkNothingIsHeld(ChaosServer server, long watchesBefore) {
        for (CacheUnderTest cache : caches) {
            checkNothingIsReachable(cache);
            for (CachedObject subject : world.subjects) {
                var state = cache.state(subject);
                if (state.references() != 0 || !state.resourceVersion().isEmpty()) {
                    world.violations.add(
                            Shape.HELD_UNREFERENCED, subject, cache + " holds it although all pods are gone: " + state);
                }
            }
        }
        long giveUp = world.time.now() + CLOSED_WITHIN.toNanos();
        long watches = server.openWatches();
        while (watches > watchesBefore && world.time.now() < giveUp) {
            LockSupport.parkNanos(POLL.toNanos());
            watches = server.openWatches();
        }
        if (watches > watchesBefore) {
            world.violations.add(Shape.LEFT_OPEN, watches + " watches are open, not " + watchesBefore);
        }
    }
}
