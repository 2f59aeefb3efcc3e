package dev.podcache.controlplane.leaderelection;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ManualTimekeeper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** Three processes whose requests and answers are slow or lost: no two ever lead, and one does in the end. */
class LeaderElectorProperties {

    private static final int PROCESSES = 3;

    private static final class Competitor implements LeaderElector.LeadershipListener {

        private final List<Competitor> all;
        boolean leading;
        /** Asserted outside, because the elector catches what a listener throws. */
        long mostLeaders;

        Competitor(List<Competitor> all) {
            this.all = all;
        }

        @Override
        public void startedLeading() {
            leading = true;
            mostLeaders = Math.max(
                    mostLeaders, all.stream().filter(process -> process.leading).count());
        }

        @Override
        public void stoppedLeading(String why) {
            leading = false;
        }

        @Override
        public void newLeader(String identity) {}
    }

    @Property(tries = 200)
    void twoProcesses_neverLeadAtTheSameTime(@ForAll long seed, @ForAll @IntRange(min = 3, max = 30) int leaseSeconds) {
        Random random = new Random(seed);
        ManualTimekeeper timekeeper = new ManualTimekeeper();
        Duration deadline = Duration.ofMillis(leaseSeconds * 1_000L - 1 - random.nextInt(leaseSeconds * 500));
        Duration retry = deadline.dividedBy(2 + random.nextInt(6));
        List<Competitor> processes = new ArrayList<>();
        List<DelayedLeases> ways = new ArrayList<>();
        try (FakeApiServer server = new FakeApiServer(timekeeper)) {
            for (int i = 0; i < PROCESSES; i++) {
                Competitor process = new Competitor(processes);
                DelayedLeases way = new DelayedLeases(server.api(ObjectKind.LEASE, Duration.ofSeconds(10)), timekeeper);
                LeaderElectionOptions options = new LeaderElectionOptions(
                        ObjectKey.of("kube-system", "controllers"),
                        "process-" + i,
                        Duration.ofSeconds(leaseSeconds),
                        deadline,
                        retry);
                processes.add(process);
                ways.add(way);
                new LeaderElector(way, options, process, timekeeper, random::nextDouble).start();
            }
            for (int step = 0; step < 60; step++) {
                disturb(ways.get(random.nextInt(PROCESSES)), random);
                timekeeper.advance(Duration.ofMillis(random.nextInt(leaseSeconds * 500)));
                assertThat(processes).filteredOn(process -> process.leading).hasSizeLessThan(2);
            }
            for (DelayedLeases way : ways) {
                mend(way);
            }
            timekeeper.advance(Duration.ofSeconds(leaseSeconds * 5L + 60));
            assertThat(processes).filteredOn(process -> process.leading).hasSize(1);
            assertThat(processes).extracting(process -> process.mostLeaders).allMatch(leaders -> leaders <= 1);
        }
    }

    private static void disturb(DelayedLeases way, Random random) {
        switch (random.nextInt(4)) {
            case 0 -> way.cut();
            case 1 -> mend(way);
            case 2 -> way.delayRequests(Duration.ofMillis(random.nextInt(20_000)));
            default -> way.delayAnswers(Duration.ofMillis(random.nextInt(20_000)));
        }
    }

    private static void mend(DelayedLeases way) {
        way.mend();
        way.delayRequests(Duration.ZERO);
        way.delayAnswers(Duration.ZERO);
    }
}
