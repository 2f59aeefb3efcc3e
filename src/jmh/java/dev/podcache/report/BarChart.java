package dev.podcache.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Horizontal bars, with a line from the lowest to the highest value across the end of each, as SVG. The colours can be
 * read on white and on black.
 */
final class BarChart {

    private static final int WIDTH = 820;
    private static final int LABELS = 290;
    private static final int BARS = 300;
    private static final int NUMBER = 170;
    private static final int ROW = 26;
    private static final int BAR = 16;
    private static final int LINE = 20;
    private static final String TEXT = "#6e7781";
    private static final String OURS = "#2f7fd6";
    private static final String OTHERS = "#9aa4af";
    private static final String GOAL = "#d9534f";

    private final String title;
    private final String subtitle;
    private final String unit;
    private final List<BarGroup> groups = new ArrayList<>();
    private double goal = Double.NaN;

    private record Bar(String label, Spread value, boolean ours) {}

    private record BarGroup(String title, List<Bar> bars) {}

    /**
     * Has no bars yet.
     *
     * @param unit behind each number
     */
    BarChart(String title, String subtitle, String unit) {
        this.title = title;
        this.subtitle = subtitle;
        this.unit = unit;
    }

    /** Begins a group of bars; its title may be empty. */
    BarChart group(String groupTitle) {
        groups.add(new BarGroup(groupTitle, new ArrayList<>()));
        return this;
    }

    /** Adds a bar of Podcache to the last group. */
    BarChart ours(String label, Spread value) {
        return bar(new Bar(label, value, true));
    }

    /** Adds a bar of something else to the last group. */
    BarChart other(String label, Spread value) {
        return bar(new Bar(label, value, false));
    }

    private BarChart bar(Bar bar) {
        groups.get(groups.size() - 1).bars().add(bar);
        return this;
    }

    /** Draws a line at the greatest value that is wanted. */
    BarChart goal(double limit) {
        goal = limit;
        return this;
    }

    /** The whole picture. */
    String svg() {
        StringBuilder body = new StringBuilder();
        int y = LINE;
        text(body, 0, y, "start", title, " font-weight=\"600\" font-size=\"15\"");
        y += LINE;
        text(body, 0, y, "start", subtitle, "");
        y += LINE / 2;
        int top = y;
        for (BarGroup group : groups) {
            if (!group.title().isEmpty()) {
                y += LINE;
                text(body, 0, y, "start", group.title(), " font-weight=\"600\"");
                y += LINE / 2 - 2;
            }
            for (Bar bar : group.bars()) {
                draw(body, bar, y);
                y += ROW;
            }
        }
        if (!Double.isNaN(goal)) {
            int x = LABELS + scaled(goal);
            body.append(line(x, top, x, y, GOAL, " stroke-dasharray=\"5 4\""));
            body.append(String.format(
                    Locale.ROOT,
                    "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" fill=\"%s\">wanted: at most %s</text>\n",
                    x,
                    y + LINE - 4,
                    GOAL,
                    Numbers.exact(goal)));
            y += LINE;
        }
        return String.format(
                Locale.ROOT,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-8 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" "
                        + "font-family=\"system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif\" font-size=\"13\">\n"
                        + "<title>%s</title>\n%s</svg>\n",
                WIDTH + 16,
                y + 8,
                WIDTH + 16,
                y + 8,
                escaped(title),
                body);
    }

    private void draw(StringBuilder body, Bar bar, int y) {
        int middle = y + ROW / 2;
        text(body, LABELS - 10, middle + 4, "end", bar.label(), bar.ours() ? " font-weight=\"600\"" : "");
        body.append(String.format(
                Locale.ROOT,
                "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"2\" fill=\"%s\"/>\n",
                LABELS,
                middle - BAR / 2,
                Math.max(1, scaled(bar.value().median())),
                BAR,
                bar.ours() ? OURS : OTHERS));
        int low = LABELS + scaled(bar.value().low());
        int high = LABELS + scaled(bar.value().high());
        if (high > low) {
            body.append(line(low, middle, high, middle, TEXT, ""));
            body.append(line(low, middle - 4, low, middle + 4, TEXT, ""));
            body.append(line(high, middle - 4, high, middle + 4, TEXT, ""));
        }
        text(body, clearOfGoal(high) + 8, middle + 4, "start", bar.value().text() + unit, "");
    }

    /** Where a number begins that would otherwise lie on the line of the goal. */
    private int clearOfGoal(int x) {
        int line = Double.isNaN(goal) ? x : LABELS + scaled(goal);
        return line > x && line < x + NUMBER ? line : x;
    }

    private int scaled(double value) {
        double highest = groups.stream()
                .flatMap(group -> group.bars().stream())
                .mapToDouble(bar -> bar.value().high())
                .max()
                .orElse(1);
        return (int) Math.round(value / Math.max(highest, Double.isNaN(goal) ? 0 : goal) * BARS);
    }

    private static String line(int x1, int y1, int x2, int y2, String colour, String more) {
        return String.format(
                Locale.ROOT,
                "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"%s\" stroke-width=\"1.5\"%s/>\n",
                x1,
                y1,
                x2,
                y2,
                colour,
                more);
    }

    private static void text(StringBuilder body, int x, int y, String anchor, String text, String more) {
        body.append(String.format(
                Locale.ROOT,
                "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\" fill=\"%s\"%s>%s</text>\n",
                x,
                y,
                anchor,
                TEXT,
                more,
                escaped(text)));
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
