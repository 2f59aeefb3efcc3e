package dev.podcache.report;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Reduces what JMH wrote with {@code -rf json} to what is kept in {@code src/jmh/results}.
 *
 * <pre>{@code
 * mvn -q -Pjmh verify -Djmh.main=dev.podcache.report.Reduce -Djmh.args="src/jmh/results/hits.json target/jmh-1.json target/jmh-2.json"
 * }</pre>
 *
 * <p>Forks of the same benchmark in several files follow each other.
 */
public final class Reduce {

    private static final JsonMapper JSON = new JsonMapper();
    private static final MathContext PRECISION = new MathContext(5);
    private static final Set<String> COUNTERS = Set.of("gc.alloc.rate.norm", "requests", "storms", "bytes", "pods");

    private Reduce() {}

    /** Takes the file to be written, and the files of JMH. */
    public static void main(String[] args) throws IOException {
        List<Path> files = Arrays.stream(args).map(Path::of).toList();
        new Results(Machine.now(), runs(files.subList(1, files.size()))).write(files.get(0));
    }

    /** The runs in files of JMH. */
    static List<Run> runs(List<Path> files) throws IOException {
        List<Run> all = new ArrayList<>();
        for (Path file : files) {
            for (JsonNode node : JSON.readTree(Files.readString(file))) {
                add(run(node), all);
            }
        }
        return all;
    }

    private static void add(Run run, List<Run> all) {
        for (int i = 0; i < all.size(); i++) {
            if (all.get(i).isLike(run)) {
                all.set(i, all.get(i).plus(run));
                return;
            }
        }
        all.add(run);
    }

    private static Run run(JsonNode node) {
        String[] name = node.get("benchmark").asText().split("\\.");
        Map<String, String> params = new TreeMap<>();
        node.path("params")
                .properties()
                .forEach(param -> params.put(param.getKey(), param.getValue().asText()));
        Map<String, List<List<Double>>> counters = new LinkedHashMap<>();
        node.path("secondaryMetrics").properties().forEach(metric -> {
            if (COUNTERS.contains(metric.getKey())) {
                counters.put(metric.getKey(), forks(metric.getValue()));
            }
        });
        JsonNode primary = node.get("primaryMetric");
        return new Run(
                name[name.length - 2] + "." + name[name.length - 1],
                params,
                node.get("threads").asInt(),
                primary.get("scoreUnit").asText(),
                forks(primary),
                counters);
    }

    private static List<List<Double>> forks(JsonNode metric) {
        List<List<Double>> forks = new ArrayList<>();
        for (JsonNode fork : metric.get("rawData")) {
            List<Double> iterations = new ArrayList<>();
            fork.forEach(value -> iterations.add(
                    BigDecimal.valueOf(value.asDouble()).round(PRECISION).doubleValue()));
            forks.add(iterations);
        }
        return forks;
    }
}
