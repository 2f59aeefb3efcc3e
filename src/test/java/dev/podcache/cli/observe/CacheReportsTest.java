package dev.podcache.cli.observe;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableMap;
import dev.podcache.cli.config.ObjectId;
import dev.podcache.cli.output.RecordedOutput;
import dev.podcache.kubelet.agent.Caches;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Pods;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class CacheReportsTest {

    private final RecordedOutput text = RecordedOutput.ofText();
    private final CacheReports reports = new CacheReports(text.events());
    private final ScriptedReads script = new ScriptedReads();
    private final Caches caches = reports.counted(script.caches());

    @AfterEach
    void close() {
        reports.close();
    }

    private void watched(String secret) {
        reports.metrics().watchSynced(ObjectKind.SECRET, ObjectKey.of("shop", secret), Duration.ofMillis(5));
    }

    private boolean isWatched(String secret) {
        return reports.watches().isKnown(new ObjectId(ObjectKind.SECRET, ObjectKey.of("shop", secret)));
    }

    @Test
    void retain_podsThatCameAndWent_leaveNothing() {
        for (int i = 0; i < 500; i++) {
            watched("of-" + i);
            caches.secrets().getObject("shop", "of-" + i);
        }

        reports.retain(ReferencedObjects.of(List.of()).objects());

        assertThat(reports.observedObjects()).isZero();
        assertThat(isWatched("of-1")).isFalse();
    }

    @Test
    void retain_objectThatAPodRefersTo_isKept() {
        watched("a");
        watched("b");

        reports.retain(ReferencedObjects.of(List.of(Pods.withSecrets("shop", "web", "u1", "a")))
                .objects());

        assertThat(isWatched("a")).isTrue();
        assertThat(isWatched("b")).isFalse();
    }

    @Test
    void reportReads_twice_reportsWhatWasAdded() {
        for (int i = 0; i < 3; i++) {
            caches.secrets().getObject("shop", "db");
        }
        reports.metrics().missed(ObjectKind.SECRET, ObjectKey.of("shop", "db"), "CACHE");
        reports.metrics().fetched(ObjectKind.SECRET, ObjectKey.of("shop", "db"), "first read", null, Duration.ZERO);
        caches.secrets().getObject("shop", "db");
        reports.reportReads();
        caches.secrets().getObject("shop", "db");
        reports.reportReads();
        reports.reportReads();

        assertThat(text.lines())
                .containsExactly(
                        "   0.0s  reads        4     hits 3     stale 0     waited 1     failed 0, fetches first read",
                        "   0.0s  reads        1     hits 1     stale 0     waited 0     failed 0");
    }

    @Test
    void reportReads_json_hasTheCounts() {
        RecordedOutput json = RecordedOutput.ofJson();
        try (CacheReports reported = new CacheReports(json.events())) {
            reported.counted(script.caches()).secrets().getObject("shop", "db");
        }

        assertThat(json.lines())
                .containsExactly("{\"event\":\"reads\",\"seconds\":0.000,\"reads\":1,\"hits\":1,\"staleServed\":0,"
                        + "\"waited\":0,\"failed\":0,\"fetches\":0,\"fetchesByReason\":{}}");
    }

    @Test
    void close_readsAndWatchesThatWereNotReported_areReportedOnce() {
        caches.secrets().getObject("shop", "db");
        watched("db");

        reports.close();
        caches.secrets().getObject("shop", "db");
        reports.close();

        assertThat(text.lines()).hasSize(2);
        assertThat(text.lines().get(0)).endsWith("watched      1 object");
        assertThat(text.lines().get(1)).contains("reads        1 ");
    }

    @Test
    void peek_objectThatIsMissing_isReportedAndNotCounted() {
        script.fail(
                "Secret shop/db",
                new ObjectUnavailableException.NotFound(ObjectKind.SECRET, ObjectKey.of("shop", "db"), null));

        reports.peek(script.caches().secrets(), new ObjectId(ObjectKind.SECRET, ObjectKey.of("shop", "db")));

        assertThat(text.lines()).containsExactly("   0.0s  missing      Secret shop/db: does not exist");
        assertThat(reports.counts()).isEqualTo(ReadCounts.NONE);
    }

    @Test
    void getObject_failedRead_isReportedAndCounted() {
        script.fail(
                "Secret shop/db",
                new ObjectUnavailableException.FetchFailed(
                        ObjectKind.SECRET, ObjectKey.of("shop", "db"), FailureReason.FORBIDDEN, 403, null, null));

        read("db");

        assertThat(text.lines()).containsExactly("   0.0s  failing      Secret shop/db: cannot be read, FORBIDDEN");
        assertThat(reports.counts().results().count(ReadCounts.FAILED)).isEqualTo(1);
    }

    @Test
    void getObject_releasedMeanwhile_isNotAFailure() {
        script.fail(
                "Secret shop/db",
                new ObjectUnavailableException.NotRegistered(ObjectKind.SECRET, ObjectKey.of("shop", "db")));

        read("db");

        assertThat(text.lines()).isEmpty();
        assertThat(reports.counts().reads()).isEqualTo(1);
        assertThat(reports.counts().results().count(ReadCounts.FAILED)).isZero();
    }

    @Test
    void getObject_nameThatNoObjectCanHave_isReported() {
        script.fail("Secret shop/DB", new IllegalArgumentException("name \"DB\" is not a legal Kubernetes name"));

        read("DB");

        assertThat(text.lines()).containsExactly("   0.0s  failing      Secret shop/DB: cannot be read, ILLEGAL_NAME");
        assertThat(reports.counts().reads()).isZero();
    }

    @Test
    void summary_strategyWatch_hasWatchesAndJsonFacts() {
        watched("db");
        caches.secrets().getObject("shop", "db");

        ImmutableMap<String, Object> facts = reports.summary(
                        ChangeDetectionStrategy.WATCH, List.of(Pods.withSecrets("shop", "web", "u1", "db")))
                .event()
                .facts();

        assertThat(facts)
                .containsEntry("strategy", "WATCH")
                .containsEntry("pods", 1)
                .containsEntry("secrets", 1L)
                .containsEntry("reads", 1)
                .containsEntry("hits", 1)
                .containsEntry("watches", ImmutableMap.of("opened", 1L, "lost", 0L, "again", 0L));
    }

    private void read(String secret) {
        try {
            caches.secrets().getObject("shop", secret);
        } catch (ObjectUnavailableException | IllegalArgumentException scripted) {
            // as a reader does
        }
    }
}
