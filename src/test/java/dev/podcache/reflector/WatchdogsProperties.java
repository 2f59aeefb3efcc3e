package dev.podcache.reflector;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ManualTimekeeper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

class WatchdogsProperties {

    private static final int WATCHDOGS = 12;

    enum WatchdogAction {
        SET,
        CANCEL,
        ADVANCE
    }

    record WatchdogStep(WatchdogAction action, int watchdog, int seconds) {}

    @Provide
    Arbitrary<List<WatchdogStep>> steps() {
        return Combinators.combine(
                        Arbitraries.of(
                                WatchdogAction.SET, WatchdogAction.SET, WatchdogAction.CANCEL, WatchdogAction.ADVANCE),
                        Arbitraries.integers().between(0, WATCHDOGS - 1),
                        Arbitraries.integers().between(0, 9))
                .as(WatchdogStep::new)
                .list()
                .ofMaxSize(60);
    }

    @Property
    void advance_anyHistory_firesEachOnceWhenItIsDue(@ForAll("steps") List<WatchdogStep> steps) {
        ManualTimekeeper time = new ManualTimekeeper();
        Watchdogs watchdogs = new Watchdogs(time);
        List<Integer> fired = new ArrayList<>();
        List<RecordingWatchdog> all = new ArrayList<>();
        for (int i = 0; i < WATCHDOGS; i++) {
            all.add(new RecordingWatchdog(i, fired));
        }
        Map<Integer, Long> due = new TreeMap<>();
        List<Integer> expected = new ArrayList<>();
        long now = 0;
        for (WatchdogStep step : steps) {
            switch (step.action) {
                case SET -> {
                    // not now, because that fires on a thread of the timekeeper's choice
                    watchdogs.set(all.get(step.watchdog), Duration.ofSeconds(step.seconds + 1));
                    due.put(step.watchdog, now + step.seconds + 1);
                }
                case CANCEL -> {
                    watchdogs.cancel(all.get(step.watchdog));
                    due.remove(step.watchdog);
                }
                case ADVANCE -> {
                    time.advance(Duration.ofSeconds(step.seconds));
                    now += step.seconds;
                    long reached = now;
                    due.entrySet().stream()
                            .filter(each -> each.getValue() <= reached)
                            .map(Map.Entry::getKey)
                            .forEach(expected::add);
                    due.values().removeIf(at -> at <= reached);
                }
            }
            assertThat(fired).containsExactlyInAnyOrderElementsOf(expected);
        }
    }

    private static final class RecordingWatchdog extends Watchdogs.Watchdog {

        private final int number;
        private final List<Integer> fired;

        RecordingWatchdog(int number, List<Integer> fired) {
            this.number = number;
            this.fired = fired;
        }

        @Override
        void fired() {
            fired.add(number);
        }
    }
}
