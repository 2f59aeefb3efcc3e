package dev.podcache.cli.demo;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.podcache.cli.output.CapturedConsole;
import dev.podcache.cli.output.RecordedOutput;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Slow;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The main job, from the command line to the last line, over real HTTP. */
@Slow
@ExtendWith(NoLeaks.class)
class DemoTest {

    private final CapturedConsole console = new CapturedConsole(Path.of("."));

    @Test
    void demo_json_hasEveryActAndAConsistentSummary(NoLeaks leaks) {
        allowWarningsOfTheFailure(leaks);
        int code = console.execute("demo", "--for", "11s", "-o", "json");

        List<JsonNode> events =
                console.out().stream().map(RecordedOutput::parsed).toList();
        assertThat(code).isZero();
        assertThat(named(events, "act")).hasSize(9);
        assertThat(named(events, "registered")).hasSize(13);
        assertThat(named(events, "unregistered"))
                .singleElement()
                .matches(event -> event.path("pod").asText().equals("shop/catalog-0"));
        JsonNode summary = events.get(events.size() - 1);
        assertConsistent(summary);
        assertThat(named(events, "reads")).hasSizeGreaterThan(1);
        for (String count : List.of("reads", "hits", "staleServed", "waited")) {
            assertThat(named(events, "reads").stream()
                            .mapToLong(event -> event.path(count).asLong())
                            .sum())
                    .as("%s in the periods of the report", count)
                    .isEqualTo(summary.path(count).asLong());
        }
    }

    private static void assertConsistent(JsonNode summary) {
        assertThat(summary.path("event").asText()).isEqualTo("summary");
        assertThat(summary.path("strategy").asText()).isEqualTo("WATCH");
        assertThat(summary.path("objects").asInt()).isEqualTo(21);
        assertThat(summary.path("references").asInt()).isEqualTo(52);
        long reads = summary.path("reads").asLong();
        long fetches = summary.path("fetches").asLong();
        assertThat(sumOf(summary.path("fetchesByReason"))).isEqualTo(fetches);
        assertThat(reads).isGreaterThan(100);
        // most are answered from memory, and those of the failure are stale
        assertThat(summary.path("hits").asLong()).isGreaterThan(reads / 3);
        assertThat(summary.path("staleServed").asLong()).isPositive();
        // of kube-root-ca.crt, which is polled
        assertThat(fetches).isPositive();
        assertThat(summary.path("watches").path("opened").asInt()).isEqualTo(19);
        assertThat(summary.path("watches").path("lost").asInt()).isEqualTo(18);
        JsonNode byKind = summary.path("requestsByKind");
        assertThat(summary.path("requestsAtServer").asLong()).isEqualTo(sumOf(byKind));
        // each object once, and most once more to confirm what a watch that continued has not sent: on a slow machine,
        // after the end
        assertThat(byKind.path("list secrets").asInt()
                        + byKind.path("list configmaps").asInt())
                .isBetween(19, 22 + 21);
        assertThat(summary.path("seenAfterSeconds")
                        .path("rotation of Secret shop/db-password")
                        .asDouble())
                .isNotNegative();
        assertComparison(summary);
    }

    private static void assertComparison(JsonNode summary) {
        JsonNode get = summary.path("comparison").path(0);
        JsonNode cache = summary.path("comparison").path(1);
        JsonNode watch = summary.path("comparison").path(2);
        assertThat(summary.path("comparison").findValuesAsText("strategy")).containsExactly("GET", "CACHE", "WATCH");
        assertThat(get.path("requestsByVerb").path("get").asLong())
                .isGreaterThanOrEqualTo(get.path("reads").asLong());
        assertThat(cache.path("requestsByVerb").path("get").asLong())
                .isBetween(21L, get.path("requestsByVerb").path("get").asLong());
        // of kube-root-ca.crt only
        assertThat(watch.path("requestsByVerb").path("get").asLong())
                .isLessThan(cache.path("requestsByVerb").path("get").asLong());
        assertThat(watch.path("requestsAtServer")).isEqualTo(summary.path("requestsAtServer"));
        assertThat(watch.path("reads")).isEqualTo(summary.path("reads"));
        assertThat(watch.path("connections").asInt()).isBetween(1, 2);
        assertThat(watch.path("openWatches").asInt()).isBetween(2, 23);
        for (JsonNode strategy : summary.path("comparison")) {
            // a machine that takes long to begin leaves less time to the acts than a TTL, in which CACHE may miss one
            boolean mayMiss = strategy.path("strategy").asText().equals("CACHE");
            assertThat(strategy.path("seenAfterSeconds")).hasSizeBetween(mayMiss ? 1 : 3, 3);
            assertThat(strategy.path("outage").has("staleServed")).isTrue();
        }
        assertThat(get.path("outage").path("hits").asInt()).isZero();
        assertThat(get.path("outage").path("podsKeptWaiting").asInt()).isPositive();
        assertThat(watch.path("outage").path("failed").asInt()).isZero();
        assertThat(watch.path("outage").path("staleServed").asInt()).isPositive();
    }

    private static long sumOf(JsonNode counts) {
        long sum = 0;
        for (JsonNode count : counts) {
            sum += count.asLong();
        }
        return sum;
    }

    @Test
    void demo_text_namesTheKubectlLineAndEndsWithTheTable(NoLeaks leaks) {
        allowWarningsOfTheFailure(leaks);
        int code = console.execute("demo", "--for", "1s");

        assertThat(code).isZero();
        assertThat(console.out())
                .anyMatch(line -> line.matches(" +kubectl --server=http://127.0.0.1:\\d+ get secrets -A"));
        assertThat(console.out())
                .contains("-- Summary", "-- The same workload under each strategy")
                .anyMatch(line -> line.startsWith("  requests "))
                .anyMatch(line -> line.matches(" +GET +CACHE +WATCH"));
        assertThat(console.out()).noneMatch(line -> line.contains("demo-first") || line.contains("ZGVtb"));
    }

    @Test
    void demo_interrupted_endsEarlyWithTheSummary(NoLeaks leaks) throws Exception {
        allowWarningsOfTheFailure(leaks);
        CompletableFuture<Integer> code = CompletableFuture.supplyAsync(() -> console.execute("demo"), NewThread.EACH);
        await().until(() -> console.out().stream().anyMatch(line -> line.contains("registered")));

        console.stop();

        assertThat(code.get(60, TimeUnit.SECONDS)).isZero();
        assertThat(console.out()).contains("-- Summary");
    }

    @Test
    void demo_strategyGet_asksForEveryRead(NoLeaks leaks) {
        allowWarningsOfTheFailure(leaks);
        int code = console.execute("demo", "--for", "2s", "--strategy", "get", "-o", "json");

        JsonNode summary = RecordedOutput.parsed(console.out().get(console.out().size() - 1));
        assertThat(code).isZero();
        assertThat(summary.path("strategy").asText()).isEqualTo("GET");
        assertThat(summary.path("hits").asLong()).isZero();
    }

    @Test
    void demo_strategyCache_isShownAndCompared(NoLeaks leaks) {
        allowWarningsOfTheFailure(leaks);
        int code = console.execute("demo", "--for", "4s", "--strategy", "cache", "-o", "json");

        JsonNode summary = RecordedOutput.parsed(console.out().get(console.out().size() - 1));
        assertThat(code).isZero();
        assertThat(summary.path("strategy").asText()).isEqualTo("CACHE");
        assertThat(summary.path("fetches").asLong()).isEqualTo(sumOf(summary.path("fetchesByReason")));
        assertThat(summary.path("fetchesByReason").path("first read").asInt()).isPositive();
        assertThat(summary.path("comparison").path(1).path("reads")).isEqualTo(summary.path("reads"));
    }

    private static void allowWarningsOfTheFailure(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        leaks.allowWarnings("; retrying");
    }

    private static List<JsonNode> named(List<JsonNode> events, String name) {
        return events.stream()
                .filter(event -> event.path("event").asText().equals(name))
                .toList();
    }
}
