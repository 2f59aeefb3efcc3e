package dev.podcache.reflector;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class WatchdogsTest {

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final Watchdogs watchdogs = new Watchdogs(time);
    private final List<String> fired = new ArrayList<>();

    @Test
    void fired_severalSet_comeInTheOrderOfTheirTimes() {
        watchdogs.set(watchdog("b"), Duration.ofSeconds(2));
        watchdogs.set(watchdog("c"), Duration.ofSeconds(3));
        watchdogs.set(watchdog("a"), Duration.ofSeconds(1));

        time.advance(Duration.ofSeconds(5));

        assertThat(fired).containsExactly("a", "b", "c");
    }

    @Test
    void set_itselfFromFired_firesAgain() {
        Watchdogs.Watchdog again = new Watchdogs.Watchdog() {
            @Override
            void fired() {
                fired.add("again");
                if (fired.size() < 3) {
                    watchdogs.set(this, Duration.ofSeconds(1));
                }
            }
        };
        watchdogs.set(again, Duration.ofSeconds(1));

        for (int i = 0; i < 5; i++) {
            time.advance(Duration.ofSeconds(1));
        }

        assertThat(fired).hasSize(3);
    }

    @Test
    void fired_oneThrows_theNextFires(NoLeaks leaks) {
        leaks.allowWarnings("a watchdog threw");
        watchdogs.set(
                new Watchdogs.Watchdog() {
                    @Override
                    void fired() {
                        throw new IllegalStateException("thrown by the test");
                    }
                },
                Duration.ofSeconds(1));
        watchdogs.set(watchdog("next"), Duration.ofSeconds(1));

        time.advance(Duration.ofSeconds(1));

        assertThat(fired).containsExactly("next");
    }

    private Watchdogs.Watchdog watchdog(String name) {
        return new Watchdogs.Watchdog() {
            @Override
            void fired() {
                fired.add(name);
            }
        };
    }
}
