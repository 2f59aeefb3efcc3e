package dev.podcache.cli.plan;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.controlplane.planner.Plan;
import dev.podcache.controlplane.planner.PlanFigure;
import dev.podcache.controlplane.planner.SimulationResult;
import dev.podcache.controlplane.planner.SimulationResult.TimeSpread;
import dev.podcache.object.ModelJson;
import org.jspecify.annotations.Nullable;

/** Writes a cluster as one JSON object on one line. */
final class PlanJson {

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final double ROUNDING = 1_000;

    private PlanJson() {}

    /**
     * Returns the settings, the figures in one object for each group, the warnings, in {@code arithmetic} how each figure
     * was computed if {@code explain}, and in {@code simulated} what was counted. Figures are rounded to thousandths; null stands for a
     * time that never comes.
     */
    static String line(PlannedCluster cluster, boolean explain) {
        Plan plan = cluster.plan();
        ObjectNode tree = (ObjectNode) ModelJson.treeOfValues(plan.settings().facts());
        ObjectNode arithmetic = MAPPER.createObjectNode();
        for (PlanFigure figure : PlanFigure.values()) {
            String group = "/" + figure.group().key();
            tree.withObject(group).put(figure.key(), finite(plan.value(figure)));
            arithmetic.withObject(group).put(figure.key(), plan.arithmetic(figure));
        }
        plan.warnings().forEach(tree.withArray("/warnings")::add);
        if (explain) {
            tree.set("arithmetic", arithmetic);
        }
        SimulationResult simulated = cluster.simulated();
        if (simulated != null) {
            tree.set("simulated", tree(simulated));
        }
        return written(tree);
    }

    private static ObjectNode tree(SimulationResult result) {
        ObjectNode tree = MAPPER.createObjectNode();
        tree.put("seconds", result.time().toSeconds());
        ObjectNode requests = tree.putObject("requestsPerSecond");
        result.requestsPerSecond().forEach((request, value) -> requests.put(request.key(), rounded(value)));
        tree.put("deaths", result.deaths());
        tree.put("falseAlarms", result.falseAlarms());
        tree.set("detectionSeconds", tree(result.detectionSeconds()));
        tree.set("evictionSeconds", tree(result.evictionSeconds()));
        return tree;
    }

    private static ObjectNode tree(TimeSpread times) {
        return MAPPER.createObjectNode()
                .put("count", times.count())
                .put("best", rounded(times.best()))
                .put("mean", rounded(times.mean()))
                .put("worst", rounded(times.worst()));
    }

    private static @Nullable Double finite(double value) {
        return Double.isInfinite(value) ? null : Double.valueOf(rounded(value));
    }

    private static double rounded(double value) {
        return Math.round(value * ROUNDING) / ROUNDING;
    }

    private static String written(ObjectNode tree) {
        try {
            return MAPPER.writeValueAsString(tree);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a tree of numbers and texts cannot be written as JSON", e);
        }
    }
}
