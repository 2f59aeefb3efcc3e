package dev.podcache.chaos;

import dev.podcache.object.ObjectUnavailableException.FetchFailed;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;

/** Reads whatever there is from one cache, mostly what is referred to, and has each answer checked. One thread. */
final class Reader {

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
    private final Set<Subject> found = new HashSet<>();

    Reader(World world, CacheUnderTest cache, SplittableRandom random) {
        this.world = world;
        this.cache = cache;
        this.random = random;
        checker = cache.checker();
    }

    Duration step() {
        Subject subject = choose();
        boolean anyhow = random.nextInt(OUT_OF) < UNREFERENCED_TOO;
        for (int i = 0; i < TRIES && !anyhow && cache.claims.of(subject).isFree(); i++) {
            subject = choose();
        }
        if (!world.isQuiet(subject) || random.nextInt(QUIET_ONCE_IN) == 0) {
            read(subject);
        }
        return Duration.ofMillis(random.nextInt(LONGEST_PAUSE));
    }

    private Subject choose() {
        if (random.nextInt(OUT_OF) < POPULAR) {
            return world.popular();
        }
        return world.subjects.get(random.nextInt(world.subjects.size()));
    }

    private void read(Subject subject) {
        Read read = cache.read(subject);
        world.figures.count("read " + cache + " " + what(read.outcome()));
        world.journal.note(subject, cache + " " + read);
        world.violations.add(checker.judge(read));
        countDeletion(subject, read.outcome());
    }

    private void countDeletion(Subject subject, Outcome outcome) {
        if (outcome instanceof Outcome.Found) {
            found.add(subject);
        } else if (CacheUnderTest.isAnswer(outcome) && found.remove(subject)) {
            world.figures.count("deletion seen by " + cache);
        }
    }

    private static String what(Outcome outcome) {
        if (!(outcome instanceof Outcome.Failed failed)) {
            return "found";
        }
        String reason = failed.thrown() instanceof FetchFailed fetch ? " " + fetch.reason() : "";
        return failed.thrown().getClass().getSimpleName() + reason;
    }
}
