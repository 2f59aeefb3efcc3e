package dev.podcache.report;

import dev.podcache.cli.output.Spread;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Horizontal bars as SVG. A line across the end of each bar goes from the lowest to the highest value. The picture has a
 * background of its own, light or dark as the viewer prefers, so that it can be read on any page.
 */
public final class BarChart {

    private static final int WIDTH = 820;
    private static final int LABELS = 290;
    private static final int BARS = 300;
    private static final int ROW = 26;
    private static final int BAR = 16;
    private static final int LINE = 20;
    private static final int MARGIN = 16;
    private static final String STYLE = """
            <style>
            .card { fill: #ffffff; stroke: #d0d7de; }
            .headline { fill: #1f2328; font-weight: 600; font-size: 15px; }
            .title { fill: #1f2328; font-weight: 600; }
            .text { fill: #59636e; }
            .ours { fill: #0969da; }
            .other { fill: #afb8c1; }
            .range { stroke: #1f2328; stroke-width: 1.5; }
            @media (prefers-color-scheme: dark) {
              .card { fill: #0d1117; stroke: #30363d; }
              .headline, .title { fill: #e6edf3; }
              .text { fill: #9198a1; }
              .ours { fill: #4493f8; }
              .other { fill: #484f58; }
              .range { stroke: #e6edf3; }
            }
            </style>
            """;

    private final String title;
    private final String subtitle;
    private final String unit;
    private final List<BarGroup> groups = new ArrayList<>();

    private record Bar(String label, Spread value, boolean ours) {}

    private record BarGroup(String title, List<Bar> bars) {}

    /**
     * Has no bars yet.
     *
     * @param unit behind each number
     */
    public BarChart(String title, String subtitle, String unit) {
        this.title = title;
        this.subtitle = subtitle;
        this.unit = unit;
    }

    /** Begins a group of bars; its title may be empty. */
    public BarChart group(String groupTitle) {
        groups.add(new BarGroup(groupTitle, new ArrayList<>()));
        return this;
    }

    /** Adds a bar of Podcache to the last group. */
    public BarChart ours(String label, Spread value) {
        return bar(new Bar(label, value, true));
    }

    /** Adds a bar of something else to the last group. */
    public BarChart other(String label, Spread value) {
        return bar(new Bar(label, value, false));
    }

    private BarChart bar(Bar bar) {
        groups.get(groups.size() - 1).bars().add(bar);
        return this;
    }

    /** Returns the title. */
    public String title() {
        return title;
    }

    /** Returns the whole picture. */
    public String svg() {
        StringBuilder body = new StringBuilder();
        int y = LINE;
        body.append(text(0, y, "start", "headline", title));
        y += LINE;
        body.append(text(0, y, "start", "text", subtitle));
        y += LINE / 2;
        for (BarGroup group : groups) {
            if (!group.title().isEmpty()) {
                y += LINE;
                body.append(text(0, y, "start", "title", group.title()));
                y += LINE / 2 - 2;
            }
            for (Bar bar : group.bars()) {
                draw(body, bar, y);
                y += ROW;
            }
        }
        int width = WIDTH + 2 * MARGIN;
        int height = y + MARGIN + MARGIN / 2;
        return String.format(
                        Locale.ROOT,
                        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"%d %d %d %d\" width=\"%d\" height=\"%d\" "
                                + "role=\"img\" font-size=\"13\" "
                                + "font-family=\"system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif\">\n",
                        -MARGIN,
                        -MARGIN / 2,
                        width,
                        height,
                        width,
                        height)
                + "<title>" + escaped(title) + "</title>\n" + STYLE
                + String.format(
                        Locale.ROOT,
                        "<rect class=\"card\" x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" rx=\"6\"/>\n",
                        0.5 - MARGIN,
                        0.5 - MARGIN / 2.0,
                        width - 1,
                        height - 1)
                + body
                + "</svg>\n";
    }

    private void draw(StringBuilder body, Bar bar, int y) {
        int middle = y + ROW / 2;
        body.append(text(LABELS - 10, middle + 4, "end", bar.ours() ? "title" : "text", bar.label()));
        body.append(String.format(
                Locale.ROOT,
                "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"2\"/>\n",
                bar.ours() ? "ours" : "other",
                LABELS,
                middle - BAR / 2,
                Math.max(1, scaled(bar.value().median())),
                BAR));
        int low = LABELS + scaled(bar.value().low());
        int high = LABELS + scaled(bar.value().high());
        if (high > low) {
            body.append(line(low, middle, high, middle, "range"));
            body.append(line(low, middle - 4, low, middle + 4, "range"));
            body.append(line(high, middle - 4, high, middle + 4, "range"));
        }
        String value = bar.value().text() + unit;
        body.append(text(high + 8, middle + 4, "start", bar.ours() ? "title" : "text", value));
    }

    private int scaled(double value) {
        return (int) Math.round(value / highest() * BARS);
    }

    /** Returns the end of the longest bar; 1 if all are empty. */
    private double highest() {
        return groups.stream()
                .flatMap(group -> group.bars().stream())
                .mapToDouble(bar -> bar.value().high())
                .filter(high -> high > 0)
                .max()
                .orElse(1);
    }

    private static String line(int x1, int y1, int x2, int y2, String style) {
        return String.format(
                Locale.ROOT, "<line class=\"%s\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n", style, x1, y1, x2, y2);
    }

    private static String text(int x, int y, String anchor, String style, String text) {
        return String.format(
                Locale.ROOT,
                "<text class=\"%s\" x=\"%d\" y=\"%d\" text-anchor=\"%s\">%s</text>\n",
                style,
                x,
                y,
                anchor,
                escaped(text));
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
