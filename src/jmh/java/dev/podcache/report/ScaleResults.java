package dev.podcache.report;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.podcache.cli.output.Spread;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;

/** What {@code ScaleRun} or {@code NamedWatchesRun} measured. */
final class ScaleResults {

    private static final JsonMapper JSON = new JsonMapper();

    private final JsonNode figures;
    private final String server;
    private final Machine machine;

    private ScaleResults(JsonNode all, Machine machine) {
        this.figures = all.get("figures");
        this.server = all.get("server").asText();
        this.machine = machine;
    }

    static ScaleResults read(Path file) throws IOException {
        JsonNode all = JSON.readTree(Files.readString(file));
        return new ScaleResults(all, JSON.treeToValue(all.get("machine"), Machine.class));
    }

    Machine machine() {
        return machine;
    }

    /**
     * Which rounds of which contestant.
     *
     * @param part of the run
     * @param limit of streams for each connection: {@code default} or {@code 100}
     */
    record Rounds(String part, String limit) {

        private Map<String, String> with(String contestant) {
            return Map.of("part", part, "streamLimit", limit, "contestant", contestant);
        }
    }

    /** A figure of every warm round, which are all but the first. */
    List<Double> warm(Rounds rounds, String contestant, String figure) {
        return values(rounds, contestant, figure, 2);
    }

    /** The spread of {@link #warm}. */
    Spread spread(Rounds rounds, String contestant, String figure) {
        return Spread.of(warm(rounds, contestant, figure));
    }

    /** The spread of a figure over all rounds, the first included. */
    Spread every(Rounds rounds, String contestant, String figure) {
        return Spread.of(values(rounds, contestant, figure, 1));
    }

    /** The parts of a contestant, in the order of the run, each once. */
    List<String> parts(String contestant) {
        return StreamSupport.stream(figures.spliterator(), false)
                .filter(each -> each.get("contestant").asText().equals(contestant))
                .map(each -> each.get("part").asText())
                .distinct()
                .toList();
    }

    /** How many rounds there were. */
    int rounds() {
        return StreamSupport.stream(figures.spliterator(), false)
                .mapToInt(each -> each.get("round").asInt())
                .max()
                .orElse(0);
    }

    /** The version of the API server. */
    String server() {
        return server;
    }

    /** A figure of the first round. */
    Spread first(Rounds rounds, String contestant, String figure) {
        return Spread.of(values(rounds, contestant, figure, 1).subList(0, 1));
    }

    /** A figure of each warm round, to the same of another contestant in that round. */
    Spread ratio(Rounds rounds, String contestant, String other, String figure) {
        List<Double> mine = warm(rounds, contestant, figure);
        List<Double> others = warm(rounds, other, figure);
        return Spread.of(IntStream.range(0, Math.min(mine.size(), others.size()))
                .mapToObj(i -> mine.get(i) / others.get(i))
                .toList());
    }

    private List<Double> values(Rounds rounds, String contestant, String figure, int fromRound) {
        Map<String, String> wanted = rounds.with(contestant);
        List<Double> values = StreamSupport.stream(figures.spliterator(), false)
                .filter(each -> wanted.entrySet().stream()
                        .allMatch(want -> each.path(want.getKey()).asText().equals(want.getValue())))
                .filter(each -> each.get("round").asInt() >= fromRound && each.has(figure))
                .map(each -> each.get(figure).asDouble())
                .toList();
        if (values.isEmpty()) {
            throw new IllegalArgumentException(figure + " of " + wanted + " was not measured");
        }
        return values;
    }

    /** When, where, and how many rounds there were of a part. */
    String provenance(String part) {
        int warm = StreamSupport.stream(figures.spliterator(), false)
                        .filter(each -> each.get("part").asText().equals(part))
                        .mapToInt(each -> each.get("round").asInt())
                        .max()
                        .orElse(1)
                - 1;
        return machine.sentence() + " kube-apiserver " + server
                + " and etcd on the same cores, over TLS. One JVM, contestants in turns; median of " + warm
                + " rounds after the first, in brackets the lowest and the highest.";
    }
}
