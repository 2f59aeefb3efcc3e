package dev.podcache.controlplane.planner;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.testing.Slow;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.assertj.core.data.Percentage;

@Slow
class PlanProperties {

    /** Figures about one node, or about time, which more nodes do not raise. */
    private static final Set<PlanFigure> OF_ONE = EnumSet.of(
            PlanFigure.FEWEST_ATTEMPTS,
            PlanFigure.MOST_ATTEMPTS,
            PlanFigure.FEWEST_RENEWALS,
            PlanFigure.MOST_RENEWALS,
            PlanFigure.WATCHES_PER_NODE,
            PlanFigure.AGENT_MEMORY,
            PlanFigure.WATCH_CONNECTIONS,
            PlanFigure.NODE_CONNECTIONS);

    @Provide
    static Arbitrary<TuningProfile> profiles() {
        Arbitrary<Integer> seconds = Arbitraries.integers().between(1, 600);
        return Arbitraries.oneOf(
                Arbitraries.of(TuningProfile.ALL),
                Combinators.combine(seconds, seconds, seconds, seconds)
                        .as((update, period, grace, eviction) -> new TuningProfile(
                                "own",
                                Duration.ofSeconds(update),
                                Duration.ofSeconds(period),
                                Duration.ofSeconds(grace),
                                Duration.ofSeconds(eviction))));
    }

    private static PlanSettings.Builder settings(int nodes, TuningProfile profile, ChangeDetectionStrategy strategy) {
        return PlanSettings.builder(nodes).profile(profile).strategy(strategy).ttl(Duration.ofMinutes(1));
    }

    @Property
    void figures_moreNodes_neverFall(
            @ForAll("profiles") TuningProfile profile,
            @ForAll ChangeDetectionStrategy strategy,
            @ForAll @IntRange(min = 1, max = 50_000) int nodes,
            @ForAll @IntRange(min = 1, max = 50_000) int more) {
        Plan smaller = Plan.of(settings(nodes, profile, strategy).build());
        Plan larger = Plan.of(settings(nodes + more, profile, strategy).build());

        for (PlanFigure figure : PlanFigure.values()) {
            if (figure.group() == PlanFigure.Group.EVICTION) {
                // the only node of a cluster is never tainted
                continue;
            }
            assertThat(larger.value(figure))
                    .as("%s of %s nodes", figure, nodes)
                    .isGreaterThanOrEqualTo(smaller.value(figure) - peak(figure, smaller));
        }
    }

    /** The peak falls by rounding only. */
    private static double peak(PlanFigure figure, Plan plan) {
        return figure == PlanFigure.PEAK_REQUESTS ? plan.value(figure) * 1e-9 : 0;
    }

    @Property
    void figuresOfOneNode_moreNodes_stay(
            @ForAll("profiles") TuningProfile profile, @ForAll @IntRange(min = 2, max = 50_000) int nodes) {
        Plan one = Plan.of(settings(1, profile, ChangeDetectionStrategy.WATCH).build());
        Plan many =
                Plan.of(settings(nodes, profile, ChangeDetectionStrategy.WATCH).build());

        assertThat(OF_ONE).allSatisfy(figure -> assertThat(many.value(figure)).isEqualTo(one.value(figure)));
    }

    @Property
    void bounds_anySettings_areInOrder(
            @ForAll("profiles") TuningProfile profile,
            @ForAll @IntRange(min = 4, max = 400) int lease,
            @ForAll @IntRange(min = 1, max = 100) int failing) {
        Plan plan = Plan.of(PlanSettings.builder(1_000)
                .profile(profile)
                .leaseDuration(Duration.ofSeconds(lease))
                .failingNodes(failing)
                .build());

        assertThat(plan.value(PlanFigure.BEST_DETECTION)).isNotNegative();
        assertThat(plan.value(PlanFigure.MEAN_DETECTION))
                .isBetween(plan.value(PlanFigure.BEST_DETECTION), plan.value(PlanFigure.WORST_DETECTION));
        assertThat(plan.value(PlanFigure.MEAN_EVICTION))
                .isBetween(plan.value(PlanFigure.BEST_EVICTION), plan.value(PlanFigure.WORST_EVICTION));
        assertThat(plan.value(PlanFigure.WORST_TAINT)).isLessThan(plan.value(PlanFigure.WORST_EVICTION));
        assertThat(plan.value(PlanFigure.FEWEST_ATTEMPTS)).isLessThanOrEqualTo(plan.value(PlanFigure.MOST_ATTEMPTS));
        assertThat(plan.value(PlanFigure.FEWEST_RENEWALS)).isLessThanOrEqualTo(plan.value(PlanFigure.MOST_RENEWALS));
    }

    /** Counted one by one: a Lease is renewed after a quarter of its duration, and up to 4 % later. */
    @Property
    void leaseRenewals_areAsManyAsCounted(
            @ForAll @IntRange(min = 1, max = 100_000) int nodes,
            @ForAll @IntRange(min = 4, max = 400) int lease,
            @ForAll long seed) {
        Plan plan = Plan.of(PlanSettings.builder(nodes)
                .leaseDuration(Duration.ofSeconds(lease))
                .build());
        Random random = new Random(seed);
        int renewals = 10_000;
        double seconds = 0;
        for (int i = 0; i < renewals; i++) {
            seconds += lease / 4.0 * (1 + 0.04 * random.nextDouble());
        }

        double perSecond = nodes * renewals / seconds;
        assertThat(plan.value(PlanFigure.LEASE_REQUESTS)).isCloseTo(perSecond, Percentage.withPercentage(0.1));
        assertThat(plan.value(PlanFigure.LEASE_RENEWALS)).isCloseTo(60 * perSecond, Percentage.withPercentage(0.1));
    }

    /** An unchanged status is written by the first update that comes no sooner than the frequency of reports allows. */
    @Property
    void statusReports_comeAtAnUpdate_notSoonerThanAllowed(
            @ForAll("profiles") TuningProfile profile,
            @ForAll @IntRange(min = 1, max = 100_000) int nodes,
            @ForAll @IntRange(min = 1, max = 900) int report) {
        Plan plan = Plan.of(PlanSettings.builder(nodes)
                .profile(profile)
                .statusReport(Duration.ofSeconds(report))
                .build());
        double update = profile.statusUpdate().toMillis() / 1e3;
        double interval = nodes * 60 / plan.value(PlanFigure.STATUS_REPORTS);

        assertThat(interval)
                .isBetween(Math.max(report, update) * 0.999, Math.max(report, update) * 1.001 + update * 1.04);
        assertThat(nodes / plan.value(PlanFigure.STATUS_REQUESTS))
                .as("the same, from the requests per second")
                .isBetween(interval * 0.999, interval * 1.001);
    }

    @Property
    void everyFigure_anySettings_isFiniteAndExplained(
            @ForAll("profiles") TuningProfile profile,
            @ForAll ChangeDetectionStrategy strategy,
            @ForAll @IntRange(min = 2, max = 100_000_000) int nodes,
            @ForAll @IntRange(max = 100_000_000) int pods) {
        Plan plan = Plan.of(PlanSettings.builder(nodes)
                .profile(profile)
                .strategy(strategy)
                .podsPerNode(pods)
                .build());

        for (PlanFigure figure : PlanFigure.values()) {
            assertThat(plan.value(figure)).as("%s", figure).isNotNegative().isFinite();
            assertThat(plan.arithmetic(figure)).endsWith(".").doesNotContain("%s");
        }
    }
}
