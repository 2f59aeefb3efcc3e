package dev.podcache.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.cli.output.Spread;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReduceTest {

    private static final String RAW = """
            [{
              "jmhVersion" : "1.37", "benchmark" : "dev.podcache.StormBenchmark.storm", "mode" : "avgt", "threads" : 1,
              "forks" : 1, "jvm" : "/opt/jdk/bin/java", "jvmArgs" : ["-Xmx2g"],
              "params" : {"by" : "%s", "ttl" : "0"},
              "primaryMetric" : {"score" : 12.0, "scoreUnit" : "us/op", "rawData" : [[%s]]},
              "secondaryMetrics" : {
                "requests" : {"rawData" : [[6.0, 2.0]]}, "storms" : {"rawData" : [[3.0, 1.0]]},
                "gc.count" : {"rawData" : [[1.0, 1.0]]}
              }
            }]
            """;

    @TempDir
    private Path folder;

    @Test
    void runs_sameBenchmarkInTwoFiles_hasTheForksOfBoth() throws IOException {
        Path first = raw("PODCACHE", "10.0, 12.345678");
        Path second = raw("PODCACHE", "30.0, 20.0");
        Path other = raw("CAFFEINE", "20.0, 40.0");

        List<Run> runs = Reduce.runs(List.of(first, other, second));

        assertThat(runs).hasSize(2);
        assertThat(runs.get(0).forks()).containsExactly(List.of(10.0, 12.346), List.of(30.0, 20.0));
        assertThat(runs.get(0).best()).isEqualTo(new Spread(10, 15, 20));
        assertThat(runs.get(0).per("requests", "storms")).isEqualTo(new Spread(2, 2, 2));
        assertThat(runs.get(0).counters()).containsOnlyKeys("requests", "storms");
    }

    @Test
    void write_thenRead_keepsFiguresAndNoPaths() throws IOException {
        Results results = new Results(Machine.now(), Reduce.runs(List.of(raw("PODCACHE", "10.0, 12.0"))));
        Path file = folder.resolve("storms.json");

        results.write(file);

        assertThat(Results.read(file)).isEqualTo(results);
        assertThat(Files.readString(file)).doesNotContain("jvm", "/opt");
        assertThat(results.find("StormBenchmark.storm", 1, Map.of("by", "PODCACHE"))
                        .unit())
                .isEqualTo("us/op");
    }

    @Test
    void bestTo_forkByFork_comparesNeighbours() throws IOException {
        Run slow = Reduce.runs(List.of(raw("A", "20.0, 22.0"), raw("A", "90.0, 80.0")))
                .get(0);
        Run fast = Reduce.runs(List.of(raw("B", "10.0, 15.0"), raw("B", "40.0, 50.0")))
                .get(0);

        assertThat(slow.bestTo(fast)).isEqualTo(new Spread(2, 2, 2));
        assertThat(slow.bestLess(fast)).isEqualTo(new Spread(10, 25, 40));
    }

    private Path raw(String by, String iterations) throws IOException {
        return Files.writeString(Files.createTempFile(folder, "jmh", ".json"), RAW.formatted(by, iterations));
    }
}
