package dev.podcache.report;

import dev.podcache.cli.output.Spread;
import dev.podcache.object.Numbers;
import java.util.ArrayList;
import java.util.List;

/** A table in Markdown. */
final class Table {

    private final List<String> lines = new ArrayList<>();

    Table(String... header) {
        row(header);
        lines.add("|" + "---|".repeat(header.length));
    }

    Table row(String... cells) {
        lines.add("| " + String.join(" | ", cells) + " |");
        return this;
    }

    /** Adds a row that says whether a goal is met, which it is when every value is. */
    Table goal(String what, Spread figure, double limit) {
        return row(
                what, figure.text(), "at most " + Numbers.exact(limit), figure.isWithin(limit) ? "met" : "**missed**");
    }

    /** A table for {@link #goal}. */
    static Table ofGoals() {
        return new Table("goal", "measured", "wanted", "");
    }

    String text() {
        return String.join("\n", lines);
    }
}
