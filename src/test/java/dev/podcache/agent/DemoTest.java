package dev.podcache.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.podcache.testing.NoLeaks;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** The main job, from the command line to the last line, over real HTTP. */
@ExtendWith(NoLeaks.class)
class DemoTest {

    private final CapturedConsole console = new CapturedConsole(Path.of("."));

    @Test
    @Timeout(30)
    void demo_json_tellsEveryActAndAConsistentSummary(NoLeaks leaks) {
        leaks.allowWarnings("cannot be followed");
        int code = console.execute("demo", "--for", "6s", "-o", "json");

        List<JsonNode> events =
                console.out().stream().map(RecordedAccount::parsed).toList();
        assertThat(code).isZero();
        assertThat(named(events, "act")).hasSize(9);
        assertThat(named(events, "registered")).hasSize(13);
        assertThat(named(events, "unregistered"))
                .singleElement()
                .matches(event -> event.path("pod").asText().equals("shop/catalog-0"));
        assertConsistent(events.get(events.size() - 1));
    }

    private static void assertConsistent(JsonNode summary) {
        assertThat(summary.path("event").asText()).isEqualTo("summary");
        assertThat(summary.path("strategy").asText()).isEqualTo("CACHE");
        assertThat(summary.path("objects").asInt()).isEqualTo(21);
        assertThat(summary.path("references").asInt()).isEqualTo(52);
        long reads = summary.path("reads").asLong();
        long fetches = summary.path("fetches").asLong();
        assertThat(sumOf(summary.path("fetchesByReason"))).isEqualTo(fetches);
        assertThat(summary.path("hits").asLong()
                        + summary.path("staleServed").asLong()
                        + summary.path("waited").asLong())
                .isEqualTo(reads);
        assertThat(reads).isGreaterThan(500);
        assertThat(summary.path("hits").asLong()).isBetween(reads / 4, reads - 21);
        assertThat(summary.path("staleServed").asLong()).isPositive();
        JsonNode byKind = summary.path("requestsByKind");
        assertThat(summary.path("requestsAtServer").asLong()).isEqualTo(sumOf(byKind));
        // each fetch is one request, or two where a cached read may lag; one whose connection was cut may not arrive
        long gets = byKind.path("get secrets").asLong()
                + byKind.path("get configmaps").asLong();
        long cut = summary.path("fetchesByReason").path("expired UNAVAILABLE").asLong();
        assertThat(fetches).isGreaterThan(21);
        assertThat(gets).isBetween(fetches - cut, 2 * fetches);
        // the TTL is 1 s; the rest is for a busy machine
        assertThat(summary.path("seenAfterSeconds")
                        .path("rotation of Secret shop/db-password")
                        .asDouble())
                .isBetween(0.001, 3.0);
    }

    private static long sumOf(JsonNode counts) {
        long sum = 0;
        for (JsonNode count : counts) {
            sum += count.asLong();
        }
        return sum;
    }

    @Test
    @Timeout(30)
    void demo_text_namesTheKubectlLineAndEndsWithTheTable(NoLeaks leaks) {
        leaks.allowWarnings("cannot be followed");
        int code = console.execute("demo", "--for", "1s");

        assertThat(code).isZero();
        assertThat(console.out())
                .anyMatch(line -> line.matches(" +kubectl --server=http://127.0.0.1:\\d+ get secrets -A"));
        assertThat(console.out()).contains("-- Summary").anyMatch(line -> line.startsWith("  requests "));
        assertThat(console.out()).noneMatch(line -> line.contains("demo-first") || line.contains("ZGVtb"));
    }

    @Test
    @Timeout(30)
    void demo_interrupted_endsEarlyWithTheSummary() throws Exception {
        CompletableFuture<Integer> code = CompletableFuture.supplyAsync(() -> console.execute("demo"));
        Awaitility.await().until(() -> console.out().stream().anyMatch(line -> line.contains("registered")));

        console.stop();

        assertThat(code.get(10, TimeUnit.SECONDS)).isZero();
        assertThat(console.out()).contains("-- Summary");
    }

    @Test
    @Timeout(30)
    void demo_strategyGet_asksForEveryRead(NoLeaks leaks) {
        leaks.allowWarnings("cannot be followed");
        int code = console.execute("demo", "--for", "2s", "--strategy", "get", "-o", "json");

        JsonNode summary =
                RecordedAccount.parsed(console.out().get(console.out().size() - 1));
        assertThat(code).isZero();
        assertThat(summary.path("strategy").asText()).isEqualTo("GET");
        assertThat(summary.path("hits").asLong()).isZero();
    }

    @Test
    void demo_strategyWatch_failsSayingThatItIsNotThereYet() {
        int code = console.execute("demo", "--strategy", "Watch");

        assertThat(code).isEqualTo(1);
        assertThat(console.out()).isEmpty();
        assertThat(console.err()).singleElement().asString().contains("WATCH is not available in this version");
    }

    private static List<JsonNode> named(List<JsonNode> events, String name) {
        return events.stream()
                .filter(event -> event.path("event").asText().equals(name))
                .toList();
    }
}
