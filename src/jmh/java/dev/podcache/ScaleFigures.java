package dev.podcache;

import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.podcache.report.Machine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The figures of {@link ScaleRun}, on standard error and in a JSON file, which is complete after each figure. */
final class ScaleFigures {

    private final JsonMapper json =
            JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();
    private final Path file;
    private final Machine machine = Machine.now();
    private final List<Map<String, Object>> figures = new ArrayList<>();

    ScaleFigures(Path file) {
        this.file = file;
    }

    /** Keeps the figure of a run against an API server of that version. */
    void add(String server, Map<String, Object> figure) throws IOException {
        figures.add(figure);
        StringBuilder line = new StringBuilder();
        figure.forEach(
                (name, value) -> line.append(name).append(' ').append(value).append("  "));
        System.err.println(line);
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("machine", machine);
        all.put("server", server);
        all.put("figures", figures);
        Files.createDirectories(file.toAbsolutePath().getParent());
        Files.writeString(file, json.writeValueAsString(all) + "\n");
    }
}
