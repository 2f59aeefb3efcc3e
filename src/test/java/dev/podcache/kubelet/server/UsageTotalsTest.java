package dev.podcache.kubelet.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.kubelet.runtime.ContainerStatistics.ContainerUsage;
import dev.podcache.kubelet.runtime.ContainerStatistics.PodUsage;
import dev.podcache.object.PodKey;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class UsageTotalsTest {

    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

    private final UsageTotals totals = new UsageTotals();

    @Test
    void add_sumsContainers() {
        UsageTotals.Total total = add(pod("a", 1, START), pod("b", 2, START));

        assertThat(total).isEqualTo(new UsageTotals.Total(Duration.ofSeconds(3), 20, 10, 8));
    }

    @Test
    void cpu_ofAContainerThatEnded_staysCounted() {
        add(pod("a", 5, START));

        assertThat(add().cpu()).isEqualTo(Duration.ofSeconds(5));
        assertThat(add().workingSetBytes()).isZero();
    }

    @Test
    void cpu_ofARestartedContainer_isAdded() {
        add(pod("a", 5, START));

        assertThat(add(pod("a", 2, START.plusSeconds(9))).cpu()).isEqualTo(Duration.ofSeconds(7));
    }

    /** The older of two measurements, whose answer took longer, does not count the container again that has ended since. */
    @Test
    void cpu_measurementIsOvertakenByALaterOne_containerThatEndedIsCountedOnce() {
        add(pod("a", 5, START));
        long overtaken = totals.begin();
        add();

        UsageTotals.Total late = totals.add(List.of(pod("a", 6, START)), overtaken);

        assertThat(late).isEqualTo(new UsageTotals.Total(Duration.ofSeconds(5), 10, 5, 4));
        assertThat(add(pod("b", 2, START)).cpu()).isEqualTo(Duration.ofSeconds(7));
    }

    @Property
    void cpu_neverDecreases(@ForAll @Size(max = 20) List<@IntRange(max = 9) Integer> measurements) {
        UsageTotals each = new UsageTotals();
        Duration last = Duration.ZERO;
        for (int seconds : measurements) {
            List<PodUsage> pods = seconds == 0 ? List.of() : List.of(pod("a", seconds, START));
            Duration now = each.add(pods, each.begin()).cpu();
            assertThat(now).isGreaterThanOrEqualTo(last);
            last = now;
        }
    }

    private UsageTotals.Total add(PodUsage... pods) {
        return totals.add(List.of(pods), totals.begin());
    }

    private static PodUsage pod(String name, int seconds, Instant startedAt) {
        return new PodUsage(
                PodKey.of("shop", name, "uid-" + name),
                List.of(new ContainerUsage("main", startedAt, startedAt, Duration.ofSeconds(seconds), 10, 5, 1, 3)));
    }
}
