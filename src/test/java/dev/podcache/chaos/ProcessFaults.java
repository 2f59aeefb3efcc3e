package dev.podcache.chaos;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** What goes wrong with the process of the caches, or is done to it. */
final class ProcessFaults {

    private static final Duration REPLACED_WITHIN = Duration.ofSeconds(30);
    private static final Duration COLLECTED_WITHIN = Duration.ofSeconds(10);
    private static final Duration POLL = Duration.ofMillis(10);
    private static final int LONGEST_STEP = 3_600;

    private final World world;
    private final List<CacheUnderTest> caches;
    private final List<PodChurn> pods;
    private final boolean lengthy;

    /** Of these caches, to which more may be added, and whoever registers with them. */
    ProcessFaults(World world, List<CacheUnderTest> caches, List<PodChurn> pods, boolean lengthy) {
        this.world = world;
        this.caches = caches;
        this.pods = pods;
        this.lengthy = lengthy;
    }

    List<ChaosFault> all() {
        return List.of(
                new ChaosFault(ChaosFault.Layer.PROCESS, "process stopped", 300, 3_000, this::stop),
                new ChaosFault(ChaosFault.Layer.PROCESS, "wall clock set", 300, 3_000, this::setClock),
                new ChaosFault(
                        ChaosFault.Layer.PROCESS, "caches closed, others opened", 300, 500, random -> replace()));
    }

    /** By another process, because a process that is stopped cannot go on by itself. */
    private ChaosFault.Mend stop(SplittableRandom random) throws IOException {
        double seconds = random.nextDouble(0.2, lengthy ? 2.0 : 0.5);
        Process stopping = new ProcessBuilder(
                        "sh",
                        "-c",
                        "kill -STOP $0; sleep $1; kill -CONT $0",
                        Long.toString(ProcessHandle.current().pid()),
                        String.format(Locale.ROOT, "%.3f", seconds))
                .start();
        return () -> {
            if (!stopping.waitFor(1, TimeUnit.MINUTES)) {
                throw new IllegalStateException("the process that stops and continues this one hangs");
            }
        };
    }

    private ChaosFault.Mend setClock(SplittableRandom random) {
        world.clock.set(Duration.ofSeconds(random.nextInt(-LONGEST_STEP, LONGEST_STEP)));
        return () -> world.clock.set(Duration.ZERO);
    }

    private ChaosFault.Mend replace() {
        pods.forEach(PodChurn::replaceCache);
        return () -> {
            long giveUp = world.time.now() + REPLACED_WITHIN.toNanos();
            while (pods.stream().anyMatch(PodChurn::isReplacing)) {
                if (world.time.now() > giveUp) {
                    throw new IllegalStateException("the caches were not replaced within " + REPLACED_WITHIN);
                }
                LockSupport.parkNanos(POLL.toNanos());
            }
            caches.forEach(this::checkNothingIsLeft);
        };
    }

    private void checkNothingIsLeft(CacheUnderTest cache) {
        long reachable = cache.handedBefore().reachable(COLLECTED_WITHIN);
        if (reachable > 0) {
            world.violations.add(
                    Shape.REACHABLE, cache + ": " + reachable + " objects are still in memory although it was closed");
        }
    }
}
