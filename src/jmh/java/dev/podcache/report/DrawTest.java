package dev.podcache.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DrawTest {

    private static final Machine MACHINE = new Machine("2026-01-01", "some cpu", 2, "17", 0.1, "");

    @TempDir
    private Path folder;

    @Test
    void plots_inTheRepository_areWhatIsDrawnFromItsJson() throws IOException {
        assertThat(new Draw(Draw.RESULTS, Draw.PLOTS).plots()).isEqualTo(svgIn(Draw.PLOTS));
    }

    @Test
    void documents_inTheRepository_haveTheTablesOfItsJson() throws IOException {
        Draw draw = new Draw(Draw.RESULTS, Draw.PLOTS);
        for (Path document : Draw.DOCUMENTS) {
            assertThat(draw.filled(document)).as(document.toString()).isEqualTo(Files.readString(document));
        }
    }

    @Test
    void filled_blockOfAPlotAndATable_replacesWhatStoodThere() throws IOException {
        storms();
        Path document = Files.writeString(
                folder.resolve("R.md"),
                "a\n<!-- measured: storms -->\nold\n<!-- end -->\nb\n<!-- measured: storms.svg -->\n<!-- end -->\n"
                        + "<!-- measured: hits -->\nkept\n<!-- end -->\n");

        String filled = new Draw(folder, folder.resolve("img")).filled(document);

        assertThat(filled)
                .contains("(img/storms.svg)", "| Podcache, CACHE | 10 | 2 |", "a\n", "b\n", "kept")
                .doesNotContain("old");
    }

    @Test
    void filled_blockWithoutEnd_isRefused() throws IOException {
        storms();
        Path document = Files.writeString(folder.resolve("R.md"), "<!-- measured: storms -->\n");
        Draw draw = new Draw(folder, folder.resolve("img"));

        assertThatThrownBy(() -> draw.filled(document)).hasMessageContaining("<!-- measured: storms -->");
    }

    private void storms() throws IOException {
        Map<String, List<List<Double>>> counters =
                Map.of("requests", List.of(List.of(4.0)), "storms", List.of(List.of(2.0)));
        List<Run> runs = Stream.of("PODCACHE", "CAFFEINE", "CAFFEINE_REFRESH", "KUBELET_TWO_MUTEXES")
                .flatMap(by -> Stream.of("0", "60").map(ttl -> Map.of("by", by, "ttl", ttl, "threads", "64")))
                .map(params -> new Run("StormBenchmark.storm", params, 1, "us/op", List.of(List.of(10.0)), counters))
                .toList();
        new Results(MACHINE, runs).write(folder.resolve("storms.json"));
    }

    private static Map<String, String> svgIn(Path folder) throws IOException {
        Map<String, String> found = new TreeMap<>();
        if (Files.exists(folder)) {
            try (Stream<Path> files = Files.list(folder)) {
                for (Path file :
                        files.filter(each -> each.toString().endsWith(".svg")).toList()) {
                    found.put(file.getFileName().toString(), Files.readString(file));
                }
            }
        }
        return found;
    }
}
