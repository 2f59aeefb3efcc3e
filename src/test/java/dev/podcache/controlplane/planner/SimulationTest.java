package dev.podcache.controlplane.planner;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.controlplane.planner.SimulationResult.TimeSpread;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Slow;
import java.time.Duration;
import java.util.List;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The classes of agent and controllers do what the plan says. */
@Slow
@ExtendWith(NoLeaks.class)
class SimulationTest {

    private static final Duration LENGTH = Duration.ofMinutes(45);

    static List<TuningProfile> profiles() {
        return TuningProfile.ALL;
    }

    private static PlanSettings settings(TuningProfile profile) {
        return PlanSettings.builder(120).profile(profile).build();
    }

    @ParameterizedTest
    @MethodSource("profiles")
    void run_eachProfile_agreesWithThePlan(TuningProfile profile) {
        Plan plan = Plan.of(settings(profile));

        SimulationResult result = Simulation.run(settings(profile), LENGTH);

        assertThat(result.requestsPerSecond().get(SimulatedRequest.LEASE))
                .isCloseTo(plan.value(PlanFigure.LEASE_REQUESTS), Percentage.withPercentage(2));
        assertThat(result.requestsPerSecond().get(SimulatedRequest.NODE_STATUS))
                .isCloseTo(plan.value(PlanFigure.STATUS_REQUESTS), Percentage.withPercentage(10));
        assertThat(result.deaths()).isBetween(20, 30);
        requireWithin(plan, result);
        assertThat(result.detectionSeconds().mean())
                .isCloseTo(plan.value(PlanFigure.MEAN_DETECTION), Percentage.withPercentage(15));
        assertThat(result.evictionSeconds().mean())
                .isCloseTo(plan.value(PlanFigure.MEAN_EVICTION), Percentage.withPercentage(15));
    }

    /** Every death was noticed, and its pods evicted, between the best and the worst figure of the plan. */
    private static void requireWithin(Plan plan, SimulationResult result) {
        TimeSpread detection = result.detectionSeconds();
        TimeSpread eviction = result.evictionSeconds();
        assertThat(detection.count()).isEqualTo(result.deaths());
        assertThat(eviction.count()).isEqualTo(result.deaths());
        assertThat(detection.best()).isBetween(plan.value(PlanFigure.BEST_DETECTION), detection.mean());
        assertThat(detection.worst()).isBetween(detection.mean(), plan.value(PlanFigure.WORST_DETECTION));
        assertThat(eviction.best()).isBetween(plan.value(PlanFigure.BEST_EVICTION), eviction.mean());
        assertThat(eviction.worst()).isBetween(eviction.mean(), plan.value(PlanFigure.WORST_EVICTION));
    }

    @ParameterizedTest
    @MethodSource("profiles")
    void heartbeatsOfOlderKubeletsAreRefused_triesAreThoseOfThePlan(TuningProfile profile, NoLeaks leaks) {
        leaks.allowWarnings("for the test");
        leaks.allowWarnings("could not be renewed in 5 tries");
        Plan plan = Plan.of(settings(profile));

        RefusedHeartbeats refused = new RefusedHeartbeats(profile, profile.statusUpdate());

        assertThat(refused.updatesPerMinute() * 120)
                .isCloseTo(plan.value(PlanFigure.STATUS_UPDATES), Percentage.withPercentage(5));
        assertThat(refused.statusTries().getMin()).isGreaterThanOrEqualTo((int) plan.value(PlanFigure.FEWEST_ATTEMPTS));
        assertThat(refused.statusTries().getMax()).isLessThanOrEqualTo((int) plan.value(PlanFigure.MOST_ATTEMPTS));
        assertThat(refused.statusTries().getCount()).isEqualTo(RefusedHeartbeats.NODES);
    }

    @ParameterizedTest
    @MethodSource("profiles")
    void renewalsAreRefused_eachIsTriedTenTimes(TuningProfile profile, NoLeaks leaks) {
        leaks.allowWarnings("for the test");
        leaks.allowWarnings("could not be renewed in 5 tries");
        Plan plan = Plan.of(settings(profile));

        RefusedHeartbeats refused = new RefusedHeartbeats(profile, Duration.ofMinutes(5));

        assertThat(refused.leaseTries().getMin())
                .isGreaterThanOrEqualTo(10 * (int) plan.value(PlanFigure.FEWEST_RENEWALS));
        assertThat(refused.leaseTries().getMax()).isLessThanOrEqualTo(10 * (int) plan.value(PlanFigure.MOST_RENEWALS));
    }

    @Test
    void run_twice_isTheSame() {
        assertThat(Simulation.run(settings(TuningProfile.FAST), LENGTH))
                .isEqualTo(Simulation.run(settings(TuningProfile.FAST), LENGTH));
    }

    @Test
    void run_shortest_hasADeath() {
        PlanSettings settings = settings(TuningProfile.FAST);

        assertThat(Simulation.run(settings, Simulation.shortest(settings)).deaths())
                .isEqualTo(1);
    }

    @Test
    @ExpectedWarnings("no node of the cluster is Ready: no pod is evicted until one is")
    void run_renewalsSlowerThanTheGracePeriod_countsFalseAlarms() {
        PlanSettings settings = PlanSettings.builder(40)
                .profile(TuningProfile.FAST)
                .leaseDuration(Duration.ofSeconds(400))
                .build();

        assertThat(Simulation.run(settings, LENGTH).falseAlarms()).isGreaterThan(40);
        assertThat(Simulation.run(settings(TuningProfile.FAST), LENGTH).falseAlarms())
                .isZero();
    }

    @Test
    void run_longLease_everyDeathIsNoticedWithinThePlan() {
        PlanSettings settings = PlanSettings.builder(120)
                .profile(TuningProfile.LOW)
                .leaseDuration(Duration.ofSeconds(400))
                .build();
        Plan plan = Plan.of(settings);

        SimulationResult result = Simulation.run(settings, Duration.ofHours(2));

        assertThat(result.deaths()).isGreaterThan(10);
        assertThat(result.falseAlarms()).isZero();
        requireWithin(plan, result);
    }

    @Test
    void run_manyFailingNodesInThePlan_stillKillsOneAfterTheOther() {
        PlanSettings settings = PlanSettings.builder(40)
                .profile(TuningProfile.FAST)
                .failingNodes(40)
                .build();

        assertThat(Simulation.run(settings, LENGTH).evictionSeconds().count()).isEqualTo(10);
    }
}
