package dev.podcache.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Draws the plots in {@code src/jmh/results} from the JSON there, and fills the tables of {@code src/jmh/RESULTS.md} and
 * {@code README.md}. Blocks whose JSON is absent stay as they are.
 *
 * <pre>{@code
 * mvn -q -Pjmh verify -Djmh.main=dev.podcache.report.Draw
 * }</pre>
 */
public final class Draw {

    static final Path RESULTS = Path.of("src", "jmh", "results");
    static final List<Path> DOCUMENTS = List.of(Path.of("src", "jmh", "RESULTS.md"), Path.of("README.md"));

    private final Path results;
    private final Map<String, String> tables = new TreeMap<>();
    private final Map<String, String> plots = new TreeMap<>();

    /** Reads what the folder has. */
    Draw(Path results) throws IOException {
        this.results = results;
        add(results.resolve("hits.json"), file -> HitReport.of(Results.read(file)));
        add(results.resolve("register.json"), file -> RegisterReport.of(Results.read(file)));
        add(results.resolve("expired.json"), file -> ExpiredReport.of(Results.read(file)));
        add(results.resolve("storms.json"), file -> StormReport.of(Results.read(file)));
        add(results.resolve("scale.json"), file -> ScaleReport.of(ScaleResults.read(file)));
    }

    private interface ReportReader {
        Report read(Path file) throws IOException;
    }

    /** Takes no arguments; to be run where the {@code pom.xml} is. */
    public static void main(String[] args) throws IOException {
        Draw draw = new Draw(RESULTS);
        for (Map.Entry<String, String> plot : draw.plots.entrySet()) {
            Files.writeString(RESULTS.resolve(plot.getKey()), plot.getValue());
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
            report.plots().forEach((name, chart) -> plots.put(name, chart.svg()));
        }
    }

    /** The plots, by file name. */
    Map<String, String> plots() {
        return plots;
    }

    /**
     * Returns the text of a document with what stands between {@code <!-- measured: NAME -->} and {@code <!-- end -->}
     * replaced by the table, or the plot, of that name.
     */
    String filled(Path document) throws IOException {
        Path folder = document.toAbsolutePath().getParent();
        String filled = Files.readString(document);
        for (Map.Entry<String, String> table : tables.entrySet()) {
            filled = filled(filled, table.getKey(), table.getValue());
        }
        for (String plot : plots.keySet()) {
            Path file = folder.relativize(results.resolve(plot).toAbsolutePath());
            filled = filled(filled, plot, "![" + plot.replace(".svg", "") + "](" + file + ")");
        }
        return filled;
    }

    private static String filled(String text, String name, String content) {
        String begin = "<!-- measured: " + name + " -->\n";
        int from = text.indexOf(begin);
        if (from < 0) {
            return text;
        }
        int to = text.indexOf("<!-- end -->", from);
        if (to < 0) {
            throw new IllegalArgumentException("no <!-- end --> after " + begin.strip());
        }
        return text.substring(0, from + begin.length()) + "\n" + content + "\n\n" + text.substring(to);
    }
}
