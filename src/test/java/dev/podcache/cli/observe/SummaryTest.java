package dev.podcache.cli.observe;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSortedMap;
import dev.podcache.cli.output.Event;
import dev.podcache.cli.output.RecordedAccount;
import dev.podcache.manager.ChangeDetectionStrategy;
import org.junit.jupiter.api.Test;

class SummaryTest {

    private static final Inventory INVENTORY = new Inventory(12, 11, 10, 57);
    private static final Counts COUNTS =
            new Counts(2000, 20, 80, 5, ImmutableSortedMap.of("expired", 60L, "first read", 21L));

    @Test
    void event_agentOnARealServer_isATableWithoutTheServersCounts() {
        Event event = new Summary(ChangeDetectionStrategy.CACHE, INVENTORY, COUNTS).event();

        assertThat(event.text().lines())
                .containsExactly(
                        "",
                        "-- Summary",
                        "  strategy           CACHE",
                        "  pods               12",
                        "  objects            11 Secrets, 10 ConfigMaps",
                        "  references         57 (a pod and an object that it refers to)",
                        "  reads              2000",
                        "    hits             1900      95.0 %   answered from memory, fresh",
                        "    stale            20         1.0 %   answered from memory, may be old: the server could not be asked",
                        "    waited           80         4.0 %   for a request, several often for the same one",
                        "    in vain          5          0.3 %   of them all: there is no such object, or it could not be had",
                        "  fetches            81 fetches: expired 60, first read 21");
    }

    @Test
    void event_demo_hasTheServersCountsAndWhatWasSeen() {
        Event event = new Summary(ChangeDetectionStrategy.CACHE, INVENTORY, COUNTS)
                .withChanges(ImmutableMap.of("rotation of Secret shop/db", 0.8, "its return", 1.25))
                .withRequests(90, ImmutableMap.of("get secrets", 88L, "watch pods", 2L))
                .event();

        assertThat(event.text().lines())
                .endsWith(
                        "  seen after         800 ms   rotation of Secret shop/db",
                        "  seen after         1.25 s   its return",
                        "  requests           90 at the server: 4.5 for every 100 reads",
                        "    get secrets      88",
                        "    watch pods       2");
    }

    @Test
    void event_facts_areThoseThatProgramsRelyOn() {
        RecordedAccount recorded = RecordedAccount.ofJson();

        recorded.account()
                .block(new Summary(ChangeDetectionStrategy.CACHE, INVENTORY, COUNTS)
                        .withRequests(90, ImmutableMap.of())
                        .event());

        assertThat(recorded.lines())
                .singleElement()
                .asString()
                .startsWith("{\"event\":\"summary\",")
                .contains(
                        "\"strategy\":\"CACHE\"",
                        "\"objects\":21",
                        "\"references\":57",
                        "\"reads\":2000",
                        "\"hits\":1900",
                        "\"fetches\":81",
                        "\"staleServed\":20",
                        "\"requestsAtServer\":90");
    }

    @Test
    void event_strategyWatch_tellsOfWatchesRatherThanFetches() {
        Event event = new Summary(ChangeDetectionStrategy.WATCH, INVENTORY, COUNTS)
                .withWatches(new Watched.Tally(22, 21, 20))
                .event();

        assertThat(event.text().lines())
                .noneMatch(line -> line.startsWith("  fetches"))
                .endsWith("  watches            22 opened, 21 lost, 20 live again");
        assertThat(event.facts()).containsEntry("watches", ImmutableMap.of("opened", 22L, "lost", 21L, "again", 20L));
    }

    @Test
    void event_strategyWithoutWatches_doesNotMentionThem() {
        Event event = new Summary(ChangeDetectionStrategy.CACHE, INVENTORY, COUNTS)
                .withWatches(new Watched.Tally(0, 0, 0))
                .event();

        assertThat(event.text()).doesNotContain("watches");
    }

    @Test
    void event_nothingWasRead_hasNoShares() {
        Event event = new Summary(ChangeDetectionStrategy.GET, new Inventory(0, 0, 0, 0), Counts.NONE)
                .withRequests(0, ImmutableMap.of())
                .event();

        assertThat(event.text()).contains("hits             0          0.0 %").contains("0.0 for every 100 reads");
    }
}
