package dev.podcache.cli.observe;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableMultiset;
import com.google.common.collect.ImmutableSet;
import dev.podcache.cli.config.ObjectId;
import dev.podcache.cli.output.ProgramEvent;
import dev.podcache.cli.output.RecordedOutput;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import org.junit.jupiter.api.Test;

class SummaryTest {

    private static final ReferencedObjects OBJECTS =
            new ReferencedObjects(12, 57, ImmutableSet.of(new ObjectId(ObjectKind.SECRET, ObjectKey.of("shop", "db"))));
    private static final ReadCounts COUNTS = new ReadCounts(
            ImmutableMultiset.<String>builder()
                    .addCopies(ReadCounts.HITS, 1900)
                    .addCopies(ReadCounts.STALE, 20)
                    .addCopies(ReadCounts.WAITED, 80)
                    .addCopies(ReadCounts.FAILED, 5)
                    .build(),
            ImmutableMultiset.<String>builder()
                    .addCopies("expired", 60)
                    .addCopies("first read", 21)
                    .build());
    private static final ImmutableMap<String, Long> WATCHES = ImmutableMap.of("opened", 22L, "lost", 21L, "again", 20L);

    private static Summary summary(ChangeDetectionStrategy strategy) {
        return new Summary(strategy, OBJECTS, COUNTS, WATCHES);
    }

    @Test
    void event_strategyCache_isATableWithoutWatches() {
        assertThat(summary(ChangeDetectionStrategy.CACHE).event().text().lines())
                .containsExactly(
                        "",
                        "-- Summary",
                        "  strategy           CACHE",
                        "  pods               12",
                        "  objects            1 Secrets, 0 ConfigMaps",
                        "  references         57 (pairs of a pod and an object that it refers to)",
                        "  reads              2000",
                        "    hits             1900      95.0 %   answered from memory, up to date",
                        "    stale            20         1.0 %   answered from memory, may be out of date",
                        "    waited           80         4.0 %   waited for a request to the API server",
                        "    failed           5          0.3 %   of all reads returned no object",
                        "  fetches            expired x 60, first read x 21");
    }

    @Test
    void event_strategyWatch_hasWatches() {
        assertThat(summary(ChangeDetectionStrategy.WATCH).event().text().lines())
                .endsWith("  watches            opened 22, lost 21, again 20");
    }

    @Test
    void event_json_hasTheFactsThatProgramsRelyOn() {
        RecordedOutput recorded = RecordedOutput.ofJson();

        recorded.events()
                .block(summary(ChangeDetectionStrategy.CACHE)
                        .with("requestsAtServer", 90)
                        .append("\n-- More")
                        .event());

        assertThat(recorded.lines())
                .containsExactly("{\"event\":\"summary\",\"seconds\":0.000,\"strategy\":\"CACHE\",\"pods\":12,"
                        + "\"objects\":1,\"secrets\":1,\"configMaps\":0,\"references\":57,\"reads\":2000,\"hits\":1900,"
                        + "\"staleServed\":20,\"waited\":80,\"failed\":5,\"fetches\":81,"
                        + "\"fetchesByReason\":{\"expired\":60,\"first read\":21},"
                        + "\"watches\":{\"opened\":22,\"lost\":21,\"again\":20},\"requestsAtServer\":90}");
    }

    @Test
    void event_nothingWasRead_hasNoShares() {
        ProgramEvent event = new Summary(
                        ChangeDetectionStrategy.GET,
                        new ReferencedObjects(0, 0, ImmutableSet.of()),
                        ReadCounts.NONE,
                        ImmutableMap.of())
                .event();

        assertThat(event.text()).contains("hits             0          0.0 %");
    }
}
