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

    @Test
    void filled_watches_saysWhatAThousandCostTheServer() throws IOException {
        Files.writeString(folder.resolve("watches.json"), """
                {"machine": {"date": "2026-01-01", "cpu": "c", "cores": 2, "java": "17", "loadAtStart": 0.1, "note": ""},
                 "server": "v1.36.2", "figures": [%s, %s, %s, %s, %s]}
                """.formatted(
                        watched("NONE", 0, 300, 0.1),
                        watched("OBJECT", 1_000, 330, 0.1),
                        watched("OBJECT", 10_000, 900, 0.2),
                        watched("NAMESPACE", 10_000, 310, 0.1),
                        watched("INFORMER", 10_000, 320, 0.1)));
        Path document = Files.writeString(
                folder.resolve("R.md"),
                "<!-- measured: watches -->\n<!-- end -->\n<!-- measured: watches-rule -->\n<!-- end -->\n");

        String filled = new Draw(folder, folder.resolve("img")).filled(document);

        assertThat(filled)
                .contains(
                        "| 1,000 Secrets by name | 1,000 | 330 |", "| 10,000 Secrets, scope NAMESPACE |", "One round.")
                .contains("a thousand watches of single objects cost the server about 60 MB of memory, 0.50 s of")
                .contains("10,000 watches took 0.10 of a processor more than none")
                .contains("by one watch of their namespace: 10 MB");
    }

    private static String watched(String contestant, int count, int megabytes, double busyCores) {
        return """
                {"part": "%d", "contestant": "%s", "streamLimit": "default", "round": 1, "openWatches": %d, "openMillis": 7000,
                 "openCpuMillis": 5000, "idleResidentBytes": %d, "idleGoroutines": 2000, "idleCores": 0.01, "updatesPerSecond": 100,
                 "busyResidentBytes": %d, "busyCores": %s}
                """.formatted(count, contestant, count, megabytes * 1_000_000L, megabytes * 1_000_000L, busyCores);
    }

    @Test
    void fill_documentWithTheMark_replacesWhatStoodThere() throws IOException {
        Path document = Files.writeString(folder.resolve("C.md"), "a\n<!-- routes -->\nold\n<!-- end -->\nb\n");

        Draw.fill(document, "<!-- routes -->", "| new |");

        assertThat(document).hasContent("a\n<!-- routes -->\n\n| new |\n\n<!-- end -->\nb\n");
    }

    @Test
    void fill_documentWithoutTheMark_isRefusedAndNotChanged() throws IOException {
        Path document = Files.writeString(folder.resolve("C.md"), "a\n<!-- end -->\n");

        assertThatThrownBy(() -> Draw.fill(document, "<!-- routes -->", "| new |"))
                .hasMessageContaining("<!-- routes -->");
        assertThat(document).hasContent("a\n<!-- end -->\n");
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
