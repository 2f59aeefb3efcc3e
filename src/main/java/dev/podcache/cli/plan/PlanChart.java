package dev.podcache.cli.plan;

import dev.podcache.cli.output.BarChart;
import dev.podcache.cli.output.Spread;
import dev.podcache.controlplane.planner.Plan;
import dev.podcache.controlplane.planner.PlanFigure;
import dev.podcache.object.Numbers;
import java.util.List;

/** Plans side by side, as a picture. */
final class PlanChart {

    private PlanChart() {}

    /** Returns an SVG of plans with equal settings but for the profile. */
    static String svg(List<Plan> plans) {
        Plan first = plans.get(0);
        BarChart chart = new BarChart(
                "Heartbeats of " + Numbers.text(first.settings().nodes()) + " nodes",
                "Computed. Bars of times are means, with the best and the worst case.",
                "");
        chart.group("Requests per second at the API server", " /s");
        plans.forEach(plan -> chart.ours(name(plan), exactly(plan.value(PlanFigure.ALL_REQUESTS))));
        chart.group("Status writes a minute if every update is reported", " /min");
        plans.forEach(plan -> chart.other(name(plan), exactly(plan.value(PlanFigure.STATUS_UPDATES))));
        chart.group("Until a dead node is Unknown", " s");
        plans.forEach(plan -> chart.ours(
                name(plan),
                new Spread(
                        plan.value(PlanFigure.BEST_DETECTION),
                        plan.value(PlanFigure.MEAN_DETECTION),
                        plan.value(PlanFigure.WORST_DETECTION))));
        chart.group("Until its pods are deleted", " s");
        plans.stream()
                .filter(plan -> Double.isFinite(plan.value(PlanFigure.WORST_EVICTION)))
                .forEach(plan -> chart.ours(
                        name(plan),
                        new Spread(
                                plan.value(PlanFigure.BEST_EVICTION),
                                plan.value(PlanFigure.MEAN_EVICTION),
                                plan.value(PlanFigure.WORST_EVICTION))));
        return chart.svg();
    }

    private static String name(Plan plan) {
        return plan.settings().profile().name();
    }

    private static Spread exactly(double value) {
        return new Spread(value, value, value);
    }
}
