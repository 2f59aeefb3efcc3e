package dev.podcache.cli.plan;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.controlplane.planner.Plan;
import dev.podcache.controlplane.planner.PlanFigure;

/** Writes a plan as one JSON object on one line. */
final class PlanJson {

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final double ROUNDING = 1_000;

    private PlanJson() {}

    /**
     * Returns the settings, the figures in one object for each group, the warnings, and in {@code arithmetic} how each
     * figure was computed if {@code explain}. Figures are rounded to thousandths.
     */
    static ObjectNode tree(Plan plan, boolean explain) {
        ObjectNode tree = MAPPER.valueToTree(plan.settings().facts());
        ObjectNode arithmetic = MAPPER.createObjectNode();
        for (PlanFigure figure : PlanFigure.values()) {
            String group = figure.group().key();
            tree.withObject("/" + group).put(figure.key(), Math.round(plan.value(figure) * ROUNDING) / ROUNDING);
            arithmetic.withObject("/" + group).put(figure.key(), plan.arithmetic(figure));
        }
        plan.warnings().forEach(tree.withArray("/warnings")::add);
        if (explain) {
            tree.set("arithmetic", arithmetic);
        }
        return tree;
    }

    static String line(ObjectNode tree) {
        try {
            return MAPPER.writeValueAsString(tree);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a tree of numbers and texts cannot be written as JSON", e);
        }
    }
}
