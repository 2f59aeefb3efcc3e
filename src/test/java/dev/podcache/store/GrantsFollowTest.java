package dev.podcache.store;

import static dev.podcache.store.TtlFixture.DB;
import static dev.podcache.store.TtlFixture.OTHER_POD;
import static dev.podcache.store.TtlFixture.POD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectUnavailableException.NotSynced;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Strategy WATCH where access follows references. */
class GrantsFollowTest extends WatchRowFixture {

    private static final Duration WINDOW = FIRST_SYNC.plusSeconds(5);

    private final List<Long> asked = new ArrayList<>(); // in milliseconds

    @Override
    EarlyRefusals earlyRefusals() {
        return EarlyRefusals.ofGrants(FIRST_SYNC);
    }

    private void refuse() {
        if (server.lists() > asked.size()) {
            asked.add(time.nanoTime() / 1_000_000);
            server.fail(failure(FailureReason.FORBIDDEN, 403));
        }
    }

    /** Refuses every list, for so long. */
    private void refuseFor(Duration length) {
        refuse();
        for (long i = 0; i < length.toMillis(); i++) {
            time.advance(MILLI);
            refuse();
        }
    }

    private void grant() {
        hear(WatchRow.LISTING, "v1", "10");
        accept(WatchRow.LISTED);
    }

    private boolean isWarned(NoLeaks log) {
        return log.warnings().stream().anyMatch(text -> text.contains("; retrying"));
    }

    @Test
    void refused_isAskedAgainSoon_untilTheWindowIsOver() {
        bringTo(WatchRow.LISTING);
        refuseFor(WINDOW.minus(MILLI));

        assertThat(asked).containsExactly(0L, 50L, 150L, 350L, 750L, 1_550L, 2_550L, 3_550L, 4_550L, 5_550L);
        assertThat(shown()).isEqualTo(CacheState.WAITING_FOR_ACCESS);
        refuseFor(MILLI);
        assertThat(asked).endsWith(5_550L, 6_000L);
        assertThat(shown()).isEqualTo(CacheState.FORBIDDEN);
    }

    @Test
    void refused_isWarnedOf_onceTheWindowIsOver(NoLeaks log) {
        bringTo(WatchRow.LISTING);
        refuseFor(WINDOW.minus(MILLI));
        assertThat(isWarned(log)).isFalse();
        refuseFor(Duration.ofMinutes(1));

        assertThat(log.warnings()).hasSize(1);
        assertThat(log.warnings().get(0)).contains("db").contains("403");
    }

    @Test
    void get_waitsForAccess() {
        bringTo(WatchRow.LISTING);
        BegunGet get = begunGet();
        refuseFor(Duration.ofMillis(700));
        assertThat(get.outcome()).isEqualTo("waits");
        time.advance(Duration.ofMillis(50));
        grant();

        assertThat(get.outcome()).isEqualTo("v1");
        assertThat(shown()).isEqualTo(CacheState.FRESH);
    }

    @Test
    void get_waitsNoLongerThanTheFirstSyncTimeout_andTheAskingGoesOn() {
        bringTo(WatchRow.LISTING);
        CompletableFuture<Secret> get = store.getAsync(DB.namespace(), DB.name());
        refuseFor(FIRST_SYNC.minus(MILLI));
        assertThat(get).isNotDone();
        refuseFor(MILLI);
        assertThat(((NotSynced) get.handle((object, failure) -> failure).join()).reason())
                .isEqualTo(FailureReason.FORBIDDEN);
        refuseFor(Duration.ofSeconds(1));
        time.advance(Duration.ofSeconds(1));
        grant();

        assertThat(shown()).isEqualTo(CacheState.FRESH);
        assertThat(get()).isEqualTo("v1");
    }

    @Test
    void watchThatIsRefusedAfterItsList_isWaitedForToo() {
        bringTo(WatchRow.LISTED);
        server.watch().end(failure(FailureReason.FORBIDDEN, 403));
        assertThat(shown()).isEqualTo(CacheState.WAITING_FOR_ACCESS);
        time.advance(Duration.ofMillis(50));
        grantAnyway();

        assertThat(get()).isEqualTo("v1");
    }

    private void grantAnyway() {
        if (server.lists() > 1) {
            hear(WatchRow.LISTING, "v1", "10");
        }
        accept(WatchRow.LISTED);
        server.watch().bookmark("12");
    }

    @Test
    void anotherReference_toARefusedObject_isNewAgain() {
        bringTo(WatchRow.LISTING);
        refuseFor(WINDOW.plusSeconds(5));
        assertThat(shown()).isEqualTo(CacheState.FORBIDDEN);
        int before = asked.size();
        store.addReference(DB, OTHER_POD);
        assertThat(shown()).isEqualTo(CacheState.WAITING_FOR_ACCESS);
        refuseFor(Duration.ofMillis(700));

        assertThat(asked.size() - before).isGreaterThanOrEqualTo(3);
        assertThat(shown()).isEqualTo(CacheState.WAITING_FOR_ACCESS);
        refuseFor(WINDOW);
        assertThat(shown()).isEqualTo(CacheState.FORBIDDEN);
    }

    @Test
    void afterTheWindow_aGetAsksAtOnce_andThrowsWhatItIsTold() {
        bringTo(WatchRow.LISTING);
        refuseFor(WINDOW.plusSeconds(30));
        int before = server.lists();
        CompletableFuture<Secret> get = store.getAsync(DB.namespace(), DB.name());
        assertThat(server.lists()).isEqualTo(before + 1);
        assertThat(get).isNotDone();
        refuse();

        assertThat(get).isCompletedExceptionally();
        time.advance(Duration.ofMillis(250));
        BegunGet next = begunGet();
        grant();
        assertThat(next.outcome()).isEqualTo("v1");
    }

    /** What was readable is no new reference: the loss of access shows at once. */
    @Test
    void revoked_isStaleAtOnce_andPausesGrow(NoLeaks log) {
        bringTo(WatchRow.WATCHED);
        fail(WatchRow.WATCHED, failure(FailureReason.FORBIDDEN, 403));

        assertThat(shown()).isEqualTo(CacheState.STALE);
        assertThat(isWarned(log)).isTrue();
    }

    @Test
    void failureOfAnotherKind_isNoWaitForAccess() {
        bringTo(WatchRow.LISTING);
        ApiServerException unavailable = failure(FailureReason.UNAVAILABLE, 503);
        server.fail(unavailable);

        assertThat(shown()).isEqualTo(CacheState.NOT_SYNCED);
        store.deleteReference(DB, POD);
    }
}
