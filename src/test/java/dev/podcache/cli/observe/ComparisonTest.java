package dev.podcache.cli.observe;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSortedMap;
import dev.podcache.cli.output.Event;
import dev.podcache.cli.output.RecordedAccount;
import dev.podcache.manager.ChangeDetectionStrategy;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ComparisonTest {

    private static final Figures GET = figures(
            ChangeDetectionStrategy.GET, ImmutableSortedMap.of("get", 600L, "list", 2L), 8, 0.021, outage(0, 3, 12));
    private static final Figures WATCH = figures(
            ChangeDetectionStrategy.WATCH,
            ImmutableSortedMap.of("list", 24L, "watch", 66L),
            1,
            0.0034,
            outage(90, 0, 0));

    @Test
    void text_twoStrategies_isATable() {
        assertThat(new Comparison(List.of(GET, WATCH)).text().lines())
                .containsExactly(
                        "-- The same workload under each strategy",
                        "                                                 GET     WATCH",
                        "  reads                                          647       647",
                        "  requests at the server                         602        90",
                        "    get                                          600         0",
                        "    list                                           2        24",
                        "    watch                                          0        66",
                        "  connections, at the end                          8         1",
                        "  watches, at the end                              2         2",
                        "  until a read saw the",
                        "    rotation                                   21 ms      3 ms",
                        "  while the server failed",
                        "    reads from memory                              0        90",
                        "      that may be old                              0        90",
                        "    reads in vain                                  3         0",
                        "    pods kept waiting                             12         0");
    }

    @Test
    void text_changeThatOneStrategyHasNotSeen_isADash() {
        Figures blind = new Figures(
                ChangeDetectionStrategy.CACHE, 5, ImmutableSortedMap.of("get", 5L), 1, 2, ImmutableMap.of(), null);

        List<String> lines =
                new Comparison(List.of(blind, WATCH)).text().lines().toList();

        assertThat(lines).contains("    rotation                                       -      3 ms");
        assertThat(lines).contains("    reads in vain                                  -         0");
    }

    @Test
    void text_serverThatDidNotFail_isNotMentioned() {
        Figures well = figures(ChangeDetectionStrategy.GET, ImmutableSortedMap.of("get", 5L), 1, 0.1, null);

        assertThat(new Comparison(List.of(well)).text()).doesNotContain("failed", "in vain");
    }

    @Test
    void facts_eachStrategy_isAnObjectForPrograms() {
        RecordedAccount recorded = RecordedAccount.ofJson();

        recorded.account()
                .tell(new Event(
                        "summary", "", ImmutableMap.of("comparison", new Comparison(List.of(GET, WATCH)).facts())));

        assertThat(recorded.lines())
                .containsExactly("{\"event\":\"summary\",\"seconds\":0.000,\"comparison\":["
                        + "{\"strategy\":\"GET\",\"reads\":647,\"requestsAtServer\":602,"
                        + "\"requestsByVerb\":{\"get\":600,\"list\":2},\"connections\":8,\"openWatches\":2,"
                        + "\"seenAfterSeconds\":{\"rotation\":0.021},\"outage\":{\"reads\":3,\"hits\":0,"
                        + "\"staleServed\":0,\"failed\":3,\"podsKeptWaiting\":12}},"
                        + "{\"strategy\":\"WATCH\",\"reads\":647,\"requestsAtServer\":90,"
                        + "\"requestsByVerb\":{\"list\":24,\"watch\":66},\"connections\":1,\"openWatches\":2,"
                        + "\"seenAfterSeconds\":{\"rotation\":0.0034},\"outage\":{\"reads\":90,\"hits\":0,"
                        + "\"staleServed\":90,\"failed\":0,\"podsKeptWaiting\":0}}]}");
    }

    private static Figures figures(
            ChangeDetectionStrategy strategy,
            ImmutableSortedMap<String, Long> requests,
            int connections,
            double rotation,
            @Nullable ReadsInOutage outage) {
        return new Figures(strategy, 647, requests, connections, 2, ImmutableMap.of("rotation", rotation), outage);
    }

    private static ReadsInOutage outage(long stale, long failed, int waiting) {
        return new ReadsInOutage(new Counts(stale + failed, stale, failed, failed, ImmutableSortedMap.of()), waiting);
    }
}
