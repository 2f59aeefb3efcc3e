package dev.podcache.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.chaos.ChaosFault.Layer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Which faults last at once, and in which order they end. */
class ChaosScheduleTest {

    private static final int STEPS = 2_000;

    private final World world = new World("chaos");

    /** Where something is wrong now, in the order in which it began. */
    private final List<Layer> wrong = new ArrayList<>();

    private final List<String> struck = new ArrayList<>();

    private final FaultSchedule schedule = schedule(true);
    private int calms;

    /** The same after a step, and for how long it stays so. */
    private record ScheduleStep(List<Layer> wrong, Duration pause) {}

    @Test
    void faults_ofTwoLayers_overlapNowAndThen() throws Exception {
        List<Integer> atOnce = steps(schedule).map(step -> step.wrong().size()).toList();

        assertThat(atOnce).containsOnly(0, 1, 2);
        assertThat(atOnce).filteredOn(count -> count == 2).hasSizeBetween(STEPS / 20, STEPS / 3);
    }

    @Test
    void faults_ofOneLayer_neverOverlap() throws Exception {
        assertThat(steps(schedule))
                .allMatch(step ->
                        step.wrong().stream().distinct().count() == step.wrong().size());
    }

    @Test
    void faultOfTheServer_isWithinThatOfAnAccount() throws Exception {
        List<List<Layer>> seen = steps(schedule).map(ScheduleStep::wrong).toList();

        assertThat(seen).contains(List.of(Layer.ACCOUNT, Layer.SERVER));
        assertThat(seen).doesNotContain(List.of(Layer.SERVER, Layer.ACCOUNT));
        assertThat(ends(seen, List.of(Layer.ACCOUNT, Layer.SERVER))).containsOnly(List.of(Layer.ACCOUNT));
    }

    @Test
    void otherFaults_endInEitherOrder() throws Exception {
        List<List<Layer>> seen = steps(schedule).map(ScheduleStep::wrong).toList();

        assertThat(ends(seen, List.of(Layer.NETWORK, Layer.SERVER)))
                .contains(List.of(Layer.NETWORK), List.of(Layer.SERVER));
    }

    @Test
    void calm_isWhenNothingIsWrong() throws Exception {
        for (int i = 0; i < STEPS; i++) {
            schedule.step();

            assertThat(world.calm.lengthAt(world.time.now()) >= 0).isEqualTo(wrong.isEmpty());
        }
    }

    @Test
    void mend_whileTwoLast_endsBoth() throws Exception {
        for (int i = 0; i < STEPS && wrong.size() < 2; i++) {
            schedule.step();
        }
        assertThat(wrong).hasSize(2);
        schedule.mend();

        assertThat(wrong).isEmpty();
        assertThat(world.calm.lengthAt(world.time.now())).isNotNegative();
    }

    @Test
    void calm_isAfterEachRoundOfAShortRun() throws Exception {
        FaultSchedule shortOne = schedule(false);
        while (!shortOne.isDealt()) {
            shortOne.step();
        }

        assertThat(calms).isEqualTo(2);
        assertThat(struck).hasSize(2 * Layer.values().length).doesNotHaveDuplicates();
    }

    @Test
    void faults_ofAShortRun_neverOverlapWithinALayer() throws Exception {
        assertThat(steps(schedule(false)))
                .allMatch(step ->
                        step.wrong().stream().distinct().count() == step.wrong().size());
    }

    /** Mending an account needs the server, and only the thread that mends it would bring the server back. */
    @Test
    void faultsOfServerAndAccount_ofAShortRun_neverOverlap() throws Exception {
        assertThat(steps(schedule(false)).map(ScheduleStep::wrong))
                .noneMatch(layers -> layers.contains(Layer.ACCOUNT) && layers.contains(Layer.SERVER));
    }

    @Test
    void faults_ofAShortRun_areEachDealtBeforeAnyStrikesAgain() throws Exception {
        steps(schedule(false)).forEach(step -> {});

        int kinds = 2 * Layer.values().length;
        for (int deck = 0; deck + kinds <= struck.size(); deck += kinds) {
            assertThat(struck.subList(deck, deck + kinds)).doesNotHaveDuplicates();
        }
    }

    @Test
    void seed_saysEverything() throws Exception {
        List<ScheduleStep> once = steps(schedule).toList();
        schedule.mend();

        List<String> kinds = List.copyOf(struck);
        struck.clear();
        steps(schedule(true)).forEach(step -> {});

        assertThat(once).hasSize(STEPS);
        assertThat(struck).isEqualTo(kinds);
    }

    private FaultSchedule schedule(boolean lengthy) {
        List<ChaosFault> faults = Stream.of(Layer.values())
                .flatMap(layer -> Stream.of(fault(layer, "short", 100), fault(layer, "long", 5_000)))
                .toList();
        return new FaultSchedule(world, faults, new SplittableRandom(1), lengthy, longest -> {
            assertThat(wrong).isEmpty();
            calms++;
        });
    }

    private ChaosFault fault(Layer layer, String kind, int shortest) {
        return new ChaosFault(
                layer,
                layer + " " + kind,
                shortest,
                2 * shortest,
                ChaosFault.by(
                        () -> {
                            wrong.add(layer);
                            struck.add(layer + " " + kind);
                        },
                        () -> {
                            assertThat(wrong.remove(layer)).isTrue();
                        }));
    }

    private Stream<ScheduleStep> steps(FaultSchedule schedule) throws Exception {
        List<ScheduleStep> steps = new ArrayList<>();
        for (int i = 0; i < STEPS; i++) {
            Duration pause = schedule.step();
            steps.add(new ScheduleStep(List.copyOf(wrong), pause));
        }
        return steps.stream();
    }

    /** What followed upon {@code both}. */
    private static List<List<Layer>> ends(List<List<Layer>> seen, List<Layer> both) {
        List<List<Layer>> ends = new ArrayList<>();
        for (int i = 1; i < seen.size(); i++) {
            if (seen.get(i - 1).equals(both)) {
                ends.add(seen.get(i));
            }
        }
        return ends;
    }
}
