package dev.podcache.cli.plan;

import dev.podcache.controlplane.planner.Plan;
import dev.podcache.controlplane.planner.PlanFigure;
import dev.podcache.controlplane.planner.SimulatedRequest;
import dev.podcache.controlplane.planner.SimulationResult;
import dev.podcache.controlplane.planner.SimulationResult.TimeSpread;
import dev.podcache.object.Numbers;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/** Clusters side by side, as text for people. */
final class PlanTable {

    private static final int LABELS = 68;
    private static final int COLUMN = 16;

    private final List<PlannedCluster> clusters;
    private final StringBuilder text = new StringBuilder();

    private PlanTable(List<PlannedCluster> clusters) {
        this.clusters = clusters;
    }

    /** Returns the table of clusters that differ in the profile only. */
    static String of(List<PlannedCluster> clusters) {
        PlanTable table = new PlanTable(clusters);
        table.addPlans();
        table.addSimulations();
        table.addWarnings();
        return table.text.toString().stripTrailing();
    }

    private void addPlans() {
        row("", PlannedCluster::profile);
        PlanFigure.Group group = null;
        for (PlanFigure figure : PlanFigure.values()) {
            if (figure.group() != group) {
                group = figure.group();
                text.append(group.title()).append('\n');
            }
            row("  " + figure.label(), cluster -> text(cluster.plan().value(figure)));
        }
    }

    private void addSimulations() {
        if (clusters.stream().allMatch(cluster -> cluster.simulated() == null)) {
            return;
        }
        text.append("Simulated: requests per second\n");
        for (SimulatedRequest request : SimulatedRequest.values()) {
            simulated(request.label(), result -> result.requestsPerSecond().getOrDefault(request, 0.0));
        }
        text.append("Simulated: deaths of nodes\n");
        simulated("nodes that died", SimulationResult::deaths);
        simulated("living nodes that became Unknown", SimulationResult::falseAlarms);
        addTimes("until Unknown, s", SimulationResult::detectionSeconds);
        addTimes("until the pod is deleted, s", SimulationResult::evictionSeconds);
    }

    private void addTimes(String label, Function<SimulationResult, TimeSpread> times) {
        simulated(label + ", best", result -> times.apply(result).best());
        simulated(label + ", mean", result -> times.apply(result).mean());
        simulated(label + ", worst", result -> times.apply(result).worst());
    }

    private void simulated(String label, ToDoubleFunction<SimulationResult> value) {
        row("  " + label, cluster -> {
            SimulationResult result = cluster.simulated();
            return result == null ? "" : Numbers.text(value.applyAsDouble(result));
        });
    }

    private void addWarnings() {
        for (PlannedCluster cluster : clusters) {
            for (String warning : cluster.plan().warnings()) {
                text.append("warning, ")
                        .append(cluster.profile())
                        .append(": ")
                        .append(warning)
                        .append('\n');
            }
        }
    }

    private void row(String label, Function<PlannedCluster, String> cell) {
        StringBuilder row = new StringBuilder(String.format(Locale.ROOT, "%-" + LABELS + "s", label));
        clusters.forEach(cluster -> row.append(String.format(Locale.ROOT, "%" + COLUMN + "s", cell.apply(cluster))));
        text.append(row.toString().stripTrailing()).append('\n');
    }

    private static String text(double value) {
        return Double.isInfinite(value) ? "never" : Numbers.text(value);
    }

    /** Returns how each figure of a plan was computed, one line each. */
    static String explained(Plan plan) {
        StringBuilder lines = new StringBuilder();
        PlanFigure.Group group = null;
        for (PlanFigure figure : PlanFigure.values()) {
            if (figure.group() != group) {
                group = figure.group();
                lines.append("\n")
                        .append(plan.settings().profile().name())
                        .append(": ")
                        .append(group.title())
                        .append('\n');
            }
            lines.append("  ")
                    .append(figure.label())
                    .append(": ")
                    .append(text(plan.value(figure)))
                    .append(" = ")
                    .append(plan.arithmetic(figure))
                    .append('\n');
        }
        return lines.toString().stripTrailing();
    }
}
