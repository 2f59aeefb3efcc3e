package dev.podcache.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import org.junit.jupiter.api.Test;

class StrategyTableTest {

    private static final ImmutableMap<String, Object> GET = side(
            "GET",
            602,
            ImmutableMap.of("get", 600, "list", 2),
            8,
            ImmutableMap.of("rotation", 0.021),
            ImmutableMap.of("staleServed", 0, "failed", 3, "podsKeptWaiting", 12));
    private static final ImmutableMap<String, Object> WATCH = side(
            "WATCH",
            90,
            ImmutableMap.of("list", 24, "watch", 66),
            1,
            ImmutableMap.of("rotation", 0.0034),
            ImmutableMap.of("staleServed", 90, "failed", 0, "podsKeptWaiting", 0));

    @Test
    void text_twoStrategies_isATable() {
        assertThat(new StrategyTable(ImmutableList.of(GET, WATCH)).text().lines())
                .containsExactly(
                        "",
                        "",
                        "-- The same workload under each strategy",
                        "                                                                     GET     WATCH",
                        "  reads                                                              647       647",
                        "  requests at the server                                             602        90",
                        "    get                                                              600         -",
                        "    list                                                               2        24",
                        "    watch                                                              -        66",
                        "  connections at the end                                               8         1",
                        "  watches at the end                                                   2         2",
                        "  until a read saw the rotation                                    21 ms      3 ms",
                        "  during the failure: stale reads                                      0        90",
                        "  during the failure: failed reads                                     3         0",
                        "  during the failure: pods whose reads waited                         12         0");
    }

    @Test
    void text_changeThatOneStrategyHasNotSeen_isADash() {
        ImmutableMap<String, Object> blind =
                side("CACHE", 5, ImmutableMap.of("get", 5), 1, ImmutableMap.of(), ImmutableMap.of());

        assertThat(new StrategyTable(ImmutableList.of(blind, WATCH)).text().lines())
                .anyMatch(line -> line.matches(" +until a read saw the rotation +- +3 ms"));
    }

    @Test
    void text_serverThatDidNotFail_isNotMentioned() {
        ImmutableMap<String, Object> well =
                side("GET", 5, ImmutableMap.of("get", 5), 1, ImmutableMap.of(), ImmutableMap.of());

        assertThat(new StrategyTable(ImmutableList.of(well)).text()).doesNotContain("failure");
    }

    private static ImmutableMap<String, Object> side(
            String strategy,
            int requests,
            ImmutableMap<String, Object> byVerb,
            int connections,
            ImmutableMap<String, Object> seenAfter,
            ImmutableMap<String, Object> outage) {
        return ImmutableMap.<String, Object>builder()
                .put("strategy", strategy)
                .put("reads", 647)
                .put("requestsAtServer", requests)
                .put("requestsByVerb", byVerb)
                .put("connections", connections)
                .put("openWatches", 2)
                .put("seenAfterSeconds", seenAfter)
                .put("outage", outage)
                .buildOrThrow();
    }
}
