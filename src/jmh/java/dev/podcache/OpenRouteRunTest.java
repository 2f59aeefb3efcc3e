package dev.podcache;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.OpenRouteRun.RouteTimes;
import dev.podcache.OpenRouteRun.RoutesBy;
import dev.podcache.testing.NoLeaks;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A tenth of the run: every route shows every change. How soon is measured by the run, on a quiet machine. */
@ExtendWith(NoLeaks.class)
class OpenRouteRunTest {

    private static final Duration DELAY = OpenRouteRun.DELAYS.get(0);

    /** In series, 200 Secrets would need 200 delays. */
    private static final double FAR_FROM_SERIAL = 200 * 0.587 / 2;

    @ParameterizedTest
    @EnumSource(names = {"OBJECT", "NAMESPACE"})
    void run_aTenth_endsWithEveryRouteInTheRightState(RoutesBy by) throws InterruptedException {
        RouteTimes found = OpenRouteRun.run(by, 200, DELAY);

        assertThat(found.wrong()).isZero();
        assertThat(found.readable()).isLessThan(FAR_FROM_SERIAL);
        assertThat(found.deleted()).isFinite();
        assertThat(found.recreated()).isFinite();
        assertThat(found.revoked()).isFinite();
        assertThat(found.allowed()).isFinite();
    }

    @Test
    void table_ofFewRoutes_hasARowForEachContestantAndDelay() throws InterruptedException {
        String table = OpenRouteRun.table(List.of(Duration.ofMillis(5), Duration.ofMillis(10)), 20, Duration.ZERO);

        List<String> rows = table.lines().toList();
        assertThat(rows).hasSize(2 + 2 * RoutesBy.values().length);
        assertThat(rows.get(0)).contains("20 routes, 2 of them changed");
        for (RoutesBy by : RoutesBy.values()) {
            assertThat(rows).anyMatch(row -> row.startsWith("| 5 ms | " + by.label + " | 1 | "));
            assertThat(rows).anyMatch(row -> row.startsWith("| 10 ms | " + by.label + " | 1 | "));
        }
        assertThat(rows.subList(2, rows.size())).allMatch(row -> row.endsWith(" | 0 |"));
    }
}
