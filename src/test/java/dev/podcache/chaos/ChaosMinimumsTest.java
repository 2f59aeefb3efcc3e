package dev.podcache.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A run that has tried too little fails, however well all went. */
class ChaosMinimumsTest {

    private static final Map<String, Integer> ENOUGH = Map.ofEntries(
            Map.entry("fault frozen", 1),
            Map.entry("deletion seen by WATCH", 50),
            Map.entry("deletion seen by CACHE", 50),
            Map.entry("deletion seen by GET", 50),
            Map.entry("read WATCH found", 5_000),
            Map.entry("read CACHE found", 5_000),
            Map.entry("miss CACHE", 1_000),
            Map.entry("FRESH answer of WATCH", 2_000),
            Map.entry("FRESH answer of CACHE", 2_000),
            Map.entry("refresh sent by CACHE", 500),
            Map.entry("GET answered CACHE", 700),
            Map.entry("request CACHE fetch answered", 500),
            Map.entry("request CACHE fetch NOT_FOUND", 200),
            Map.entry("request WATCH watch synced", 500));

    private final World world = new World("chaos");
    private final List<ChaosFault> faults =
            List.of(new ChaosFault(ChaosFault.Layer.NETWORK, "frozen", 1, 2, ChaosFault.by(() -> {}, () -> {})));

    @Test
    void check_runThatHasTriedEverything_complainsOfNothing() {
        assertThat(shapesWithout("nothing")).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "fault frozen, FAULT_NEVER_STRUCK",
        "deletion seen by WATCH, TOO_FEW_DELETIONS",
        "deletion seen by GET, TOO_FEW_DELETIONS",
        "read WATCH found, TOO_FEW_HITS",
        "FRESH answer of CACHE, TOO_FEW_FRESH",
        "refresh sent by CACHE, TOO_FEW_REFRESHES",
        "request WATCH watch synced, TOO_FEW_SUCCESSES_TOLD"
    })
    void check_runWithoutOneOfThem_complainsOfThat(String without, Shape shape) {
        assertThat(shapesWithout(without)).containsExactly(shape);
    }

    @Test
    void check_hitsThatWereAllMisses_areTooFew() {
        count("miss WATCH", 4_900);

        assertThat(shapesWithout("nothing")).containsExactly(Shape.TOO_FEW_HITS);
    }

    @Test
    void check_fetchesThatWereAnsweredAndNotToldSo_areTooFew() {
        count("GET answered CACHE", 2_000);

        assertThat(shapesWithout("nothing")).containsExactly(Shape.TOO_FEW_SUCCESSES_TOLD);
    }

    private List<Shape> shapesWithout(String without) {
        ENOUGH.forEach((what, count) -> count(what, what.equals(without) ? 0 : count));
        new Minimums(world.figures, world.violations).check(faults);
        return new ArrayList<>(
                world.violations.findings().stream().map(Finding::shape).toList());
    }

    private void count(String what, int count) {
        for (int i = 0; i < count; i++) {
            world.figures.count(what);
        }
    }
}
