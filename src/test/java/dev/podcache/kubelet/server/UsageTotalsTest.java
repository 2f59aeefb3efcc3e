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
        UsageTotals.Total total = totals.add(List.of(pod("a", 1, START), pod("b", 2, START)));

        assertThat(total).isEqualTo(new UsageTotals.Total(Duration.ofSeconds(3), 20, 10, 8));
    }

    @Test
    void cpu_ofAContainerThatEnded_staysCounted() {
        totals.add(List.of(pod("a", 5, START)));

        assertThat(totals.add(List.of()).cpu()).isEqualTo(Duration.ofSeconds(5));
        assertThat(totals.add(List.of()).workingSetBytes()).isZero();
    }

    @Test
    void cpu_ofARestartedContainer_isAdded() {
        totals.add(List.of(pod("a", 5, START)));

        assertThat(totals.add(List.of(pod("a", 2, START.plusSeconds(9)))).cpu()).isEqualTo(Duration.ofSeconds(7));
    }

    @Property
    void cpu_neverDecreases(@ForAll @Size(max = 20) List<@IntRange(max = 9) Integer> measurements) {
        UsageTotals each = new UsageTotals();
        Duration last = Duration.ZERO;
        for (int seconds : measurements) {
            Duration now = each.add(seconds == 0 ? List.of() : List.of(pod("a", seconds, START)))
                    .cpu();
            assertThat(now).isGreaterThanOrEqualTo(last);
            last = now;
        }
    }

    private static PodUsage pod(String name, int seconds, Instant startedAt) {
        return new PodUsage(
                PodKey.of("shop", name, "uid-" + name),
                List.of(new ContainerUsage("main", startedAt, startedAt, Duration.ofSeconds(seconds), 10, 5, 1, 3)));
    }
}
