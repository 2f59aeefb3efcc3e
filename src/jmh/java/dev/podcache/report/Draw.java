package dev.podcache.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Draws the plots in {@code docs/img} from the JSON in {@code src/jmh/results}, and fills the tables of {@code
 * docs/performance.md} and {@code src/jmh/results/README.md} and the plot of {@code README.md}. Blocks whose JSON is absent stay as they are.
 *
 * <pre>{@code
 * mvn -q -Pjmh verify -Djmh.main=dev.podcache.report.Draw
 * }</pre>
 */
public final class Draw {

    static final Path RESULTS = Path.of("src", "jmh", "results");
    static final Path PLOTS = Path.of("docs", "img");
    static final List<Path> DOCUMENTS = List.of(
            Path.of("docs", "performance.md"), Path.of("README.md"), Path.of("src", "jmh", "results", "README.md"));

    private final Path folder;
    private final Map<String, String> tables = new TreeMap<>();
    private final Map<String, BarChart> plots = new TreeMap<>();

    /**
     * Reads the JSON files of a folder.
     *
     * @param folder where the plots are, or will be
     */
    Draw(Path results, Path folder) throws IOException {
        this.folder = folder;
        add(results.resolve("hits.json"), file -> HitReport.of(Results.read(file)));
        add(results.resolve("register.json"), file -> RegisterReport.of(Results.read(file)));
        add(results.resolve("expired.json"), file -> ExpiredReport.of(Results.read(file)));
        add(results.resolve("storms.json"), file -> StormReport.of(Results.read(file)));
        add(results.resolve("scale.json"), file -> ScaleReport.of(ScaleResults.read(file)));
        add(results.resolve("watches.json"), file -> WatchesReport.of(ScaleResults.read(file)));
    }

    private interface ReportReader {
        Report read(Path file) throws IOException;
    }

    /** Takes no arguments; to be run where the {@code pom.xml} is. */
    public static void main(String[] args) throws IOException {
        Draw draw = new Draw(RESULTS, PLOTS);
        Files.createDirectories(PLOTS);
        for (Map.Entry<String, String> plot : draw.plots().entrySet()) {
            Files.writeString(PLOTS.resolve(plot.getKey()), plot.getValue());
        }
        for (Path document : DOCUMENTS) {
            Files.writeString(document, draw.filled(document));
        }
        draw.tables.forEach((name, table) -> System.out.println("## " + name + "\n\n" + table + "\n"));
    }

    private void add(Path file, ReportReader reader) throws IOException {
        if (Files.exists(file)) {
            Report report = reader.read(file);
            tables.putAll(report.tables());
            plots.putAll(report.plots());
        }
    }

    /** Returns the plots as SVG, by file name. */
    Map<String, String> plots() {
        Map<String, String> drawn = new TreeMap<>();
        plots.forEach((name, chart) -> drawn.put(name, chart.svg()));
        return drawn;
    }

    /**
     * Returns the text of a document with what stands between {@code <!-- measured: NAME -->} and {@code <!-- end -->}
     * replaced by the table, or the plot, of that name.
     */
    String filled(Path document) throws IOException {
        Path from = document.toAbsolutePath().getParent();
        String filled = Files.readString(document);
        for (Map.Entry<String, String> table : tables.entrySet()) {
            filled = filled(filled, table.getKey(), table.getValue());
        }
        for (Map.Entry<String, BarChart> plot : plots.entrySet()) {
            Path file = from.relativize(folder.resolve(plot.getKey()).toAbsolutePath());
            filled = filled(filled, plot.getKey(), "![" + plot.getValue().title() + "](" + file + ")");
        }
        return filled;
    }

    private static String filled(String text, String name, String content) {
        String mark = "<!-- measured: " + name + " -->";
        return text.contains(mark + "\n") ? between(text, mark, content) : text;
    }

    /**
     * Puts a table into a document, between a line {@code mark} and the next {@code <!-- end -->}: what the programs do that
     * measure without JSON.
     *
     * @throws IllegalArgumentException if the document has no such lines
     */
    public static void fill(Path document, String mark, String table) throws IOException {
        Files.writeString(document, between(Files.readString(document), mark, table));
    }

    private static String between(String text, String mark, String content) {
        int from = text.indexOf(mark + "\n");
        if (from < 0) {
            throw new IllegalArgumentException("no line " + mark);
        }
        int to = text.indexOf("<!-- end -->", from);
        if (to < 0) {
            throw new IllegalArgumentException("no <!-- end --> after " + mark);
        }
        return text.substring(0, from + mark.length() + 1) + "\n" + content + "\n\n" + text.substring(to);
    }
}
