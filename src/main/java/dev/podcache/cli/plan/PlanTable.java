package dev.podcache.cli.plan;

import dev.podcache.controlplane.planner.Plan;
import dev.podcache.controlplane.planner.PlanFigure;
import dev.podcache.object.Numbers;
import java.util.List;
import java.util.Locale;

/** Plans side by side, as text for people. */
final class PlanTable {

    private static final int LABELS = 68;
    private static final int COLUMN = 16;

    private final List<Plan> plans;
    private final StringBuilder text = new StringBuilder();

    private PlanTable(List<Plan> plans) {
        this.plans = plans;
    }

    /** Returns the table of plans with equal settings but for the profile. */
    static String of(List<Plan> plans) {
        return new PlanTable(plans).table();
    }

    private String table() {
        row("", plan -> plan.settings().profile().name());
        PlanFigure.Group group = null;
        for (PlanFigure figure : PlanFigure.values()) {
            if (figure.group() != group) {
                group = figure.group();
                text.append(group.title()).append('\n');
            }
            row("  " + figure.label(), plan -> Numbers.text(plan.value(figure)));
        }
        plans.forEach(plan -> plan.warnings()
                .forEach(warning -> text.append("warning, ")
                        .append(plan.settings().profile().name())
                        .append(": ")
                        .append(warning)
                        .append('\n')));
        return text.toString().stripTrailing();
    }

    private interface Cell {
        String of(Plan plan);
    }

    private void row(String label, Cell cell) {
        StringBuilder row = new StringBuilder(String.format(Locale.ROOT, "%-" + LABELS + "s", label));
        plans.forEach(plan -> row.append(String.format(Locale.ROOT, "%" + COLUMN + "s", cell.of(plan))));
        text.append(row.toString().stripTrailing()).append('\n');
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
                    .append(Numbers.text(plan.value(figure)))
                    .append(" = ")
                    .append(plan.arithmetic(figure))
                    .append('\n');
        }
        return lines.toString().stripTrailing();
    }
}
