package dev.podcache.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * One run: caches are opened, everything happens at once, in rounds of faults with calm between them, the caches
 * converge, the pods go, the caches close. It ends early at the first broken promise. What is random comes from the seed; how the threads and processes
 * of a machine take turns does not, so a run that is repeated has the same schedule and not quite the same course.
 */
final class ChaosRun {

    private static final int READERS_OF_EACH = 4;
    private static final int READERS_OF_GET = 2;
    private static final Duration POLL = Duration.ofMillis(100);
    private static final Duration WARM_WITHIN = Duration.ofSeconds(20);
    private static final Duration SETTLED_WITHIN = Duration.ofSeconds(20);
    /** So much longer than planned a run goes on until it has tried enough, on a machine on which much else runs. */
    private static final Duration LATE_BY = Duration.ofMinutes(1);

    private static final Duration CLOSED_WITHIN = Duration.ofMinutes(1);

    private final ChaosServer server;
    private final ChaosOptions options;
    private final World world = new World(ChaosServer.NAMESPACE);
    private final List<CacheUnderTest> caches = new ArrayList<>();
    private final List<PodChurn> podChurns = new ArrayList<>();
    private final ObjectChurn objectChurn;
    private final List<ChaosFault> faults = new ArrayList<>();
    private final FaultSchedule schedule;
    private final Minimums minimums = new Minimums(world.figures, world.violations);
    private int actors;

    ChaosRun(ChaosServer server, ChaosOptions options) {
        this.server = server;
        this.options = options;
        objectChurn = new ObjectChurn(world, server.api(), options.randomOf(++actors));
        faults.addAll(server.faults(world, options.lengthy()));
        faults.addAll(new ProcessFaults(world, caches, podChurns, options.lengthy()).all());
        schedule = new FaultSchedule(
                world, faults, options.randomOf(++actors), options.lengthy(), new CalmPhase(world, caches));
    }

    /** Goes through it all; the report has been printed when this returns. */
    ChaosReport run() throws Exception {
        // a run that hangs prints no report
        System.out.println(options.test() + " begins; to repeat it: " + options.command());
        ChaosReport report = new ChaosReport(options, world);
        long began = world.time.now();
        try (CanaryLog log = new CanaryLog(world)) {
            log.begin();
            warmUp();
            report.before(ResourceUse.steady(SETTLED_WITHIN));
            objectChurn.populate();
            long watches = server.openWatches();
            openCaches();
            live(report);
            for (PodChurn pods : podChurns) {
                pods.end();
            }
            new Ending(world, caches).checkNothingIsHeld(server, watches);
            if (world.violations.isEmpty()) {
                minimums.check(faults);
            }
        } catch (Exception | Error e) {
            world.violations.broke("the run", e);
        } finally {
            caches.forEach(CacheUnderTest::close);
            caches.clear();
            podChurns.clear();
            report.after(CLOSED_WITHIN);
            report.print(Duration.ofNanos(world.time.now() - began));
        }
        return report;
    }

    /** Has everything that is made once for the whole process made before anything is counted. */
    private void warmUp() {
        openCaches();
        CachedObject subject = world.subjects.get(0);
        for (int i = 0; i < caches.size(); i++) {
            CacheUnderTest cache = caches.get(i);
            podChurns.get(i).registerOne(subject);
            long giveUp = world.time.now() + WARM_WITHIN.toNanos();
            while (!cache.read(subject).before().seen() && world.time.now() < giveUp) {
                LockSupport.parkNanos(POLL.toNanos());
            }
            podChurns.get(i).end();
        }
        caches.forEach(CacheUnderTest::close);
        caches.clear();
        podChurns.clear();
    }

    private void openCaches() {
        for (Rules rules : List.of(Rules.watch(server.transport()), Rules.cache(), Rules.get())) {
            CacheUnderTest cache = new CacheUnderTest(world, rules.shorterThanCalm(), server);
            caches.add(cache);
            podChurns.add(new PodChurn(world, cache, options.randomOf(++actors)));
        }
    }

    private void live(ChaosReport report) throws Exception {
        List<Actor> readers = new ArrayList<>();
        try {
            readers.add(actor("stalls", world.stalls::step));
            for (CacheUnderTest cache : caches) {
                int count = cache.rules.isGet() ? READERS_OF_GET : READERS_OF_EACH;
                for (int i = 0; i < count; i++) {
                    ChaosReader reader = new ChaosReader(world, cache, options.randomOf(++actors));
                    readers.add(actor("reads-" + cache + "-" + i, reader::step));
                }
            }
            suffer();
            if (world.violations.isEmpty()) {
                report.converged(new Ending(world, caches).converge());
            }
        } finally {
            readers.forEach(Actor::close);
        }
    }

    /** Everything happens, until time is over and each fault has struck, and enough else, or a promise is broken. */
    private void suffer() throws Exception {
        List<Actor> movers = new ArrayList<>();
        try {
            movers.add(actor("faults", schedule::step));
            movers.add(actor("writer", objectChurn::step));
            podChurns.forEach(PodChurn::begin);
            for (int i = 0; i < podChurns.size(); i++) {
                movers.add(actor("pods-" + caches.get(i), podChurns.get(i)::step));
            }
            long end = world.time.now() + options.faultsFor().toNanos();
            while ((world.time.now() < end || !schedule.isDealt()) && world.violations.isEmpty()) {
                LockSupport.parkNanos(POLL.toNanos());
            }
            long latest = world.time.now() + LATE_BY.toNanos();
            while (world.time.now() < latest && !minimums.areMet(faults) && world.violations.isEmpty()) {
                LockSupport.parkNanos(POLL.toNanos());
            }
        } finally {
            // the server must be well for the writer to find out what became of its last write
            movers.remove(0).close();
            schedule.mend();
            movers.forEach(Actor::close);
            objectChurn.end();
        }
    }

    private Actor actor(String name, Actor.ActorStep step) {
        return new Actor(name, world.violations, step);
    }
}
