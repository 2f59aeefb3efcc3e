package dev.podcache.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/**
 * What must be so between two faults: some objects are not written any more, and every cache comes to equal the server
 * in them, with one watch of each. It ends as soon as that is so. One thread.
 */
final class CalmPhase implements FaultSchedule.Between {

    private static final Duration POLL = Duration.ofMillis(40);

    private final World world;
    private final List<CacheUnderTest> caches;
    private final Map<CacheUnderTest, Checker> checkers = new LinkedHashMap<>();
    private int passed;

    /** Of these caches, to which more may be added. */
    CalmPhase(World world, List<CacheUnderTest> caches) {
        this.world = world;
        this.caches = caches;
    }

    @Override
    public void pass(Duration longest) {
        world.freeze(chosen());
        long began = world.time.now();
        List<Runnable> complaints;
        boolean due;
        do {
            LockSupport.parkNanos(POLL.toNanos());
            // gets may wait: what counts is what those find that begin when time is over
            due = world.time.now() - began - world.stalls.between(began, world.time.now()) >= longest.toNanos();
            complaints = complaints(longest);
        } while (!complaints.isEmpty() && !due && world.violations.isEmpty());
        if (world.violations.isEmpty()) {
            complaints.forEach(Runnable::run);
        }
        world.figures.took("calm until all converged", world.time.now() - began);
        world.freeze(Set.of());
    }

    /** Every other object, in turn, and those that one pod refers to all the time. */
    private Set<CachedObject> chosen() {
        Set<CachedObject> chosen = new HashSet<>();
        for (int i = passed++ % 2; i < world.subjects.size(); i += 2) {
            chosen.add(world.subjects.get(i));
        }
        world.subjects.stream().filter(world::isSteady).forEach(chosen::add);
        return chosen;
    }

    private List<Runnable> complaints(Duration longest) {
        List<Runnable> complaints = new ArrayList<>();
        for (CacheUnderTest cache : caches) {
            if (!cache.rules.isGet()) {
                frozenIn(cache).forEach(subject -> checkEqual(cache, subject, longest, complaints));
            }
            if (cache.rules.isWatch()) {
                world.subjects.forEach(subject -> checkWatches(subject, complaints));
            }
        }
        return complaints;
    }

    private List<CachedObject> frozenIn(CacheUnderTest cache) {
        return world.subjects.stream()
                .filter(subject -> world.isFrozen(subject) && !world.isQuiet(subject))
                .filter(subject -> cache.claims.of(subject).isHeld())
                .toList();
    }

    private void checkEqual(CacheUnderTest cache, CachedObject subject, Duration longest, List<Runnable> complaints) {
        Read read = cache.read(subject);
        world.violations.add(
                checkers.computeIfAbsent(cache, CacheUnderTest::checker).judge(read));
        if (read.isWithinEpoch() && !Ending.isConverged(world.history(subject), read.outcome())) {
            Version current = world.history(subject).current();
            complaints.add(() -> world.violations.add(
                    Shape.NOT_CONVERGED,
                    subject,
                    cache + " is not " + current + " after " + longest + " of calm: " + read));
        }
    }

    private void checkWatches(CachedObject subject, List<Runnable> complaints) {
        int open = world.watches.open(subject);
        world.figures.most("watches of one object at once", open);
        if (open > 1) {
            complaints.add(
                    () -> world.violations.add(Shape.WATCHED_TWICE, subject, open + " watches of it are open in calm"));
        }
    }
}
