package dev.podcache.kubelet.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.podcache.object.ModelJson;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.PrometheusText;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** The dashboard, the alerts and the table of the documentation against the scrape of an agent. */
@ExtendWith(NoLeaks.class)
class MonitoringTest {

    private static final Path DASHBOARD = Path.of("deploy/monitoring/podcache-dashboard.json");
    private static final Path RULES = Path.of("deploy/monitoring/podcache-rules.yaml");
    private static final Path DOCUMENT = Path.of("docs/metrics.md");

    /** Added by Prometheus. */
    private static final Set<String> TARGET_LABELS = Set.of("instance", "job");

    private PrometheusText scraped;

    @BeforeEach
    void scrape(@TempDir Path folder) throws IOException, GeneralSecurityException, InterruptedException {
        try (ServedAgent served = new ServedAgent(folder).awaitRunning()) {
            scraped = PrometheusText.parse(served.health("/metrics").body());
        }
    }

    /** Returns what is wrong with an expression: metrics that are not in the scrape, or have no such label. */
    private List<String> problems(String expression) {
        PromqlNames names = PromqlNames.of(expression);
        List<String> problems = new ArrayList<>();
        for (String metric : names.metrics()) {
            if (!scraped.names().contains(metric)) {
                problems.add("no metric " + metric + " in " + expression);
            }
        }
        Set<String> labels = new TreeSet<>(TARGET_LABELS);
        names.metrics().forEach(metric -> labels.addAll(scraped.labels(metric)));
        for (String label : names.labels()) {
            if (!labels.contains(label)) {
                problems.add("no label " + label + " in " + expression);
            }
        }
        return problems;
    }

    @Test
    void dashboard_everyExpression_isOfMetricsThatAnAgentHas() throws IOException {
        JsonNode dashboard = new ObjectMapper().readTree(Files.readString(DASHBOARD));
        List<String> expressions = new ArrayList<>(dashboard.findValuesAsText("expr"));
        dashboard.path("templating").path("list").forEach(variable -> {
            if (variable.path("type").asText().equals("query")) {
                expressions.add(variable.path("query").asText());
            }
        });

        assertThat(expressions).hasSizeGreaterThan(15);
        assertThat(expressions)
                .allSatisfy(expression -> assertThat(problems(expression)).isEmpty());
        assertThat(dashboard.path("uid").asText()).isEqualTo("podcache");
        assertThat(dashboard.path("panels"))
                .allSatisfy(panel -> assertThat(panel.path("title").asText()).isNotEmpty());
    }

    @Test
    void rules_everyExpression_isOfMetricsThatAnAgentHas() throws IOException {
        JsonNode alerts = ModelJson.treeOfValues(Serialization.unmarshal(Files.readString(RULES), Map.class))
                .at("/groups/0/rules");

        assertThat(alerts).hasSizeGreaterThan(5);
        for (JsonNode alert : alerts) {
            assertThat(problems(alert.path("expr").asText())).isEmpty();
            assertThat(alert.path("alert").asText()).startsWith("Podcache");
            assertThat(Files.readString(DOCUMENT))
                    .contains("`" + alert.path("alert").asText() + "`");
        }
    }

    @Test
    void expression_ofAMetricOrLabelThatNoAgentHas_isFound() {
        assertThat(problems("rate(podcache_fetches_total{outcome=\"x\"}[5m]) > 1"))
                .isEmpty();
        assertThat(problems("rate(podcache_fetched_total[5m])")).hasSize(1);
        assertThat(problems("rate(podcache_fetches_total{result=\"x\"}[5m])")).hasSize(1);
        assertThat(problems("sum by (kind) (podcache_bytes)")).hasSize(1);
        assertThat(problems("up and podcache_bytes")).hasSize(1);
        assertThat(problems("label_values(podcache_bytes, node)")).hasSize(1);
    }

    @Test
    void document_table_isTheScrape() throws IOException {
        Map<String, String> documented = new TreeMap<>();
        Map<String, String> groups = new TreeMap<>();
        for (String line : Files.readAllLines(DOCUMENT)) {
            String[] cells = line.split("\\|", -1);
            if (cells.length == 6 && cells[1].strip().matches("`[a-z_]+(\\*)?`")) {
                String name = cells[1].strip().replace("`", "");
                (name.endsWith("*") ? groups : documented).put(name.replace("*", ""), row(cells[2], cells[3]));
            }
        }
        Map<String, String> actual = new TreeMap<>();
        scraped.types().forEach((name, type) -> {
            if (groups.keySet().stream().noneMatch(name::startsWith)) {
                actual.put(name, row(type, String.join(", ", new TreeSet<>(scraped.labels(name)))));
            }
        });

        assertThat(documented).isEqualTo(actual);
        assertThat(groups.keySet()).isEqualTo(Set.of("jvm_", "process_", "system_"));
        assertThat(groups.keySet())
                .allSatisfy(group -> assertThat(scraped.types().keySet())
                        .anySatisfy(name -> assertThat(name).startsWith(group)));
    }

    private static String row(String type, String labels) {
        String sorted = List.of(labels.replace("`", "").strip().split(", ")).stream()
                .sorted()
                .collect(Collectors.joining(", "));
        return type.strip() + " {" + sorted + "}";
    }
}
