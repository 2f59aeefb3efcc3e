package dev.podcache.chaos;

import dev.podcache.object.ObjectUnavailableException.FetchFailed;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;

/** Reads whatever there is from one cache, mostly what is referred to, and has each answer checked. One thread. */
final class ChaosReader {

    private static final int LONGEST_PAUSE = 36;
    private static final int TRIES = 10;
    private static final int QUIET_ONCE_IN = 300;
    private static final int OUT_OF = 100;
    private static final int UNREFERENCED_TOO = 5;
    private static final int POPULAR = 40;

    private final World world;
    private final CacheUnderTest cache;
    private final SplittableRandom random;
    private final Checker checker;
    private final Set<CachedObject> found = new HashSet<>();

    ChaosReader(World world, CacheUnderTest cache, SplittableRandom random) {
        this.world = world;
        this.cache = cache;
        this.random = random;
        checker = cache.checker();
    }

    Duration step() {
        CachedObject subject = choose();
        boolean anyhow = random.nextInt(OUT_OF) < UNREFERENCED_TOO;
        for (int i = 0; i < TRIES && !anyhow && cache.claims.of(subject).isFree(); i++) {
            subject = choose();
        }
        if (!world.isQuiet(subject) || random.nextInt(QUIET_ONCE_IN) == 0) {
            read(subject);
        }
        return Duration.ofMillis(random.nextInt(LONGEST_PAUSE));
    }

    private CachedObject choose() {
        if (random.nextInt(OUT_OF) < POPULAR) {
            return world.popular();
        }
        return world.subjects.get(random.nextInt(world.subjects.size()));
    }

    private void read(CachedObject subject) {
        Read read = cache.read(subject);
        world.figures.count("read " + cache + " " + what(read.outcome()));
        world.journal.note(subject, cache + " " + read);
        world.violations.add(checker.judge(read));
        countDeletion(subject, read.outcome());
    }

    private void countDeletion(CachedObject subject, ReadOutcome outcome) {
        if (outcome instanceof ReadOutcome.FoundObject) {
            found.add(subject);
        } else if (CacheUnderTest.isAnswer(outcome) && found.remove(subject)) {
            world.figures.count("deletion seen by " + cache);
        }
    }

    private static String what(ReadOutcome outcome) {
        if (!(outcome instanceof ReadOutcome.FailedRead failed)) {
            return "found";
        }
        String reason = failed.thrown() instanceof FetchFailed fetch ? " " + fetch.reason() : "";
        return failed.thrown().getClass().getSimpleName() + reason;
    }
}
