package dev.podcache.store;

import static dev.podcache.store.TtlFixture.DB;
import static dev.podcache.store.TtlFixture.OTHER_POD;
import static dev.podcache.store.TtlFixture.POD;
import static dev.podcache.store.TtlFixture.broughtBy;
import static dev.podcache.store.TtlFixture.failureOf;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.embedded.HeldRequests;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectUnavailableException.Closed;
import dev.podcache.object.ObjectUnavailableException.FetchFailed;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.testing.NoLeaks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Races of strategy CACHE, each replayed step by step: requests are held, and time is driven by hand. */
@ExtendWith(NoLeaks.class)
class TtlInterleavingTest {

    private final TtlFixture f = new TtlFixture();

    @AfterEach
    void close() {
        f.close();
    }

    @Test
    void manyGetsOfAColdObject_shareOneRequest() throws Exception {
        f.create(DB, "v1");
        f.store.addReference(DB, POD);
        HeldRequests held = f.server.hold(DB);

        List<CompletableFuture<String>> gets = getsBehind(50);
        held.release();

        assertThat(gets).allSatisfy(get -> assertThat(broughtBy(get)).isEqualTo("v1"));
        f.requireGets(1);
    }

    @Test
    void ttlZero_getsThatBeginDuringAFetch_shareTheNextOne() throws Exception {
        f.ttl.set(Duration.ZERO);
        f.create(DB, "v1");
        f.store.addReference(DB, POD);
        HeldRequests held = f.server.hold(DB);
        List<CompletableFuture<String>> gets = getsBehind(1);
        f.update(DB, "v2");
        gets.addAll(getsBehind(20, 21));
        held.release();

        assertThat(broughtBy(gets.get(0))).isEqualTo("v1");
        assertThat(gets.subList(1, 21))
                .allSatisfy(get -> assertThat(broughtBy(get)).isEqualTo("v2"));
        f.requireGets(2);
    }

    @Test
    void absentAnswer_doesNotCountForGetsThatBeganAfterItsRequest() throws Exception {
        f.store.addReference(DB, POD);
        HeldRequests held = f.server.hold(DB);
        List<CompletableFuture<String>> gets = getsBehind(1);
        f.create(DB, "v1");
        gets.addAll(getsBehind(5, 6));
        held.release();

        assertThat(failureOf(gets.get(0))).isInstanceOf(NotFound.class);
        assertThat(gets.subList(1, 6))
                .allSatisfy(get -> assertThat(broughtBy(get)).isEqualTo("v1"));
    }

    @Test
    void newReferenceDuringAFetch_laterGetsAreNotAnsweredByIt() throws Exception {
        f.create(DB, "v1");
        f.store.addReference(DB, POD);
        HeldRequests held = f.server.holdNext(DB);
        CompletableFuture<String> before = getsBehind(1).get(0);
        f.update(DB, "v2");

        f.store.addReference(DB, OTHER_POD);
        HeldRequests second = f.server.holdNext(DB);
        CompletableFuture<String> after = getsBehind(1, 2).get(0);
        // the old fetch ends first: it must not answer the new get, nor be kept
        held.release();
        assertThat(broughtBy(before)).isEqualTo("v1");
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.UNREAD);
        second.release();

        assertThat(broughtBy(after)).isEqualTo("v2");
        assertThat(f.get()).isEqualTo("v2");
        f.requireGets(2);
    }

    @Test
    void newReferenceDuringAFetch_getsThatJoinedItBefore_areAnsweredByIt() throws Exception {
        f.create(DB, "v1");
        f.store.addReference(DB, POD);
        HeldRequests held = f.server.hold(DB);
        CompletableFuture<String> first = getsBehind(1).get(0);
        CompletableFuture<String> joined = getsBehind(1, 2).get(0);
        f.update(DB, "v2");
        f.store.addReference(DB, OTHER_POD);
        held.release();

        assertThat(broughtBy(first)).isEqualTo("v1");
        assertThat(broughtBy(joined)).isEqualTo("v1");
        f.requireGets(1);
    }

    @Test
    void newReferenceDuringAFetch_theOldFetchEndsLast_andChangesNothing() throws Exception {
        f.create(DB, "v1");
        f.store.addReference(DB, POD);
        HeldRequests held = f.server.holdNext(DB);
        CompletableFuture<String> before = getsBehind(1).get(0);
        f.update(DB, "v2");
        f.store.addReference(DB, OTHER_POD);
        HeldRequests second = f.server.holdNext(DB);
        CompletableFuture<String> after = getsBehind(1, 2).get(0);
        second.release();
        assertThat(broughtBy(after)).isEqualTo("v2");
        held.release();

        assertThat(broughtBy(before)).isEqualTo("v1");
        assertThat(f.get()).isEqualTo("v2");
    }

    @Test
    void failedFetch_getsThatBeganLater_askOnceMore() throws Exception {
        f.create(DB, "v1");
        f.store.addReference(DB, POD);
        HeldRequests held = f.server.holdBeforeReading(DB);
        CompletableFuture<String> first = getsBehind(1).get(0);
        CompletableFuture<String> later = getsBehind(1, 2).get(0);
        // the held request is answered with a deletion in between, the next one sees the object
        f.delete(DB);
        held.release();

        assertThat(failureOf(first)).isInstanceOf(NotFound.class);
        assertThat(failureOf(later)).isInstanceOf(NotFound.class);
        f.requireGets(2);
    }

    @Test
    void lastReferenceDeletedDuringAFetch_itsWaitersAreAnsweredAndNothingIsKept() throws Exception {
        f.create(DB, "v1");
        f.store.addReference(DB, POD);
        HeldRequests held = f.server.hold(DB);
        CompletableFuture<String> get = getsBehind(1).get(0);
        f.store.deleteReference(DB, POD);
        assertThat(failureOf(f.getBehind(DB))).isInstanceOf(NotRegistered.class);
        held.release();

        assertThat(broughtBy(get)).isEqualTo("v1");
        assertThat(f.store.size()).isZero();
    }

    @Test
    void closeDuringAFetch_itsWaitersEndPromptly() throws Exception {
        f.create(DB, "v1");
        f.store.addReference(DB, POD);
        HeldRequests held = f.server.hold(DB);
        List<CompletableFuture<String>> gets = getsBehind(5);
        f.store.close();

        assertThat(gets).allSatisfy(get -> assertThat(failureOf(get)).isInstanceOf(Closed.class));
        held.release();
        assertThat(f.store.size()).isZero();
    }

    @Test
    void closeAfterANewReferenceDetachedAFetch_itsWaitersEndPromptlyToo() throws Exception {
        f.create(DB, "v1");
        f.store.addReference(DB, POD);
        HeldRequests held = f.server.hold(DB);
        List<CompletableFuture<String>> gets = getsBehind(2);
        f.store.addReference(DB, OTHER_POD);
        f.store.close();

        assertThat(gets).allSatisfy(get -> assertThat(failureOf(get)).isInstanceOf(Closed.class));
        held.release();
    }

    /** P8. */
    @Test
    void stuckFetch_delaysNoOtherObjectAndNoReference() throws Exception {
        ObjectKey other = ObjectKey.of("default", "other");
        f.create(DB, "v1");
        f.create(other, "o1");
        f.store.addReference(DB, POD);
        HeldRequests held = f.server.hold(DB);
        CompletableFuture<String> stuck = getsBehind(1).get(0);

        // all of this on the test's own thread, while time stands still
        f.store.addReference(other, POD);
        assertThat(f.get(other)).isEqualTo("o1");
        f.store.addReference(DB, OTHER_POD);
        f.store.deleteReference(DB, OTHER_POD);
        f.store.deleteReference(other, POD);

        assertThat(stuck).isNotDone();
        held.release();
        broughtBy(stuck);
    }

    @Test
    void forbiddenForAMoment_asRightAfterAPodsBinding_isRepeated() throws Exception {
        f.create(DB, "v1");
        f.store.addReference(DB, POD);
        f.failNext(2, FailureReason.FORBIDDEN, 403, null);
        CompletableFuture<String> get = getsBehind(1).get(0);
        f.timekeeper.advance(Duration.ofMillis(300));

        assertThat(broughtBy(get)).isEqualTo("v1");
    }

    @Test
    void forbiddenForGood_failsAfterASecond() throws Exception {
        f.store.addReference(DB, POD);
        f.failNext(1000, FailureReason.FORBIDDEN, 403, null);
        CompletableFuture<String> get = getsBehind(1).get(0);
        f.timekeeper.advance(Duration.ofSeconds(2));

        assertThat(failureOf(get)).isInstanceOfSatisfying(FetchFailed.class, e -> {
            assertThat(e.reason()).isEqualTo(FailureReason.FORBIDDEN);
            assertThat(e.httpCode()).hasValue(403);
        });
    }

    private List<CompletableFuture<String>> getsBehind(int count) throws InterruptedException {
        return getsBehind(count, count);
    }

    /** Starts gets and returns when, with those before, so many wait. */
    private List<CompletableFuture<String>> getsBehind(int count, int waiting) throws InterruptedException {
        List<CompletableFuture<String>> gets = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            gets.add(f.getBehind(DB));
        }
        f.timekeeper.awaitWaiters(waiting);
        return gets;
    }
}
