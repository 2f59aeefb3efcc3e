package dev.podcache.report;

import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What JMH measured on one machine, without names of files or hosts.
 *
 * @param machine where
 * @param runs what
 */
record Results(Machine machine, List<Run> runs) {

    private static final JsonMapper JSON = new JsonMapper();

    static Results read(Path file) throws IOException {
        return JSON.readValue(Files.readString(file), Results.class);
    }

    /** Writes a line for each run. */
    void write(Path file) throws IOException {
        List<String> lines = new ArrayList<>();
        for (Run run : runs) {
            lines.add(JSON.writeValueAsString(run));
        }
        Files.createDirectories(file.toAbsolutePath().getParent());
        Files.writeString(
                file,
                "{\"machine\":" + JSON.writeValueAsString(machine) + ",\n\"runs\":[\n" + String.join(",\n", lines)
                        + "\n]}\n");
    }

    /**
     * The run of a benchmark.
     *
     * @param params those that decide; others may have any value
     * @throws IllegalArgumentException if there is none
     */
    Run find(String benchmark, int threads, Map<String, String> params) {
        return runs.stream()
                .filter(run -> run.benchmark().equals(benchmark) && run.threads() == threads)
                .filter(run -> run.params().entrySet().containsAll(params.entrySet()))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        benchmark + " with " + threads + " threads and " + params + " was not measured"));
    }

    /** How many forks each figure comes from, and when. */
    String provenance() {
        int forks = runs.stream().mapToInt(run -> run.forks().size()).min().orElse(0);
        return machine.sentence() + " Median of " + forks + " forks, in brackets the lowest and the highest.";
    }
}
