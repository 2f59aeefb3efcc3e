package dev.podcache.apiserver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.AccessReviews.ResourceAccess;
import dev.podcache.apiserver.AccessReviews.Review;
import dev.podcache.apiserver.CachedReviews.Followed;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.Subject;
import dev.podcache.testing.ManualReviews;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** How often is reviewed, and which answers count, while roles change again and again; in time that the test drives. */
@ExtendWith(NoLeaks.class)
class ReviewPaceTest {

    private static final Subject WEB = Subject.serviceAccount("shop", "web");
    private static final ResourceAccess TLS = get("tls");

    /** In a minute: one each period, and the first ones. */
    private static final int MOST_IN_A_MINUTE = (int) (60_000 / CachedReviews.PERIOD.toMillis()) + CachedReviews.BURST;

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final ManualReviews server = new ManualReviews();
    private final CachedReviews reviews = new CachedReviews(server, false, time, () -> 0.5);
    private final AtomicInteger told = new AtomicInteger();
    private final Map<ManualReviews.Call, Long> begun = new HashMap<>();

    private static ResourceAccess get(String name) {
        return ResourceAccess.of(ObjectKind.SECRET, ObjectKey.of("shop", name), "get");
    }

    private Followed follow(ResourceAccess access) {
        return reviews.follow(WEB, access, told::incrementAndGet);
    }

    /** Has time pass, in which access changes every 10 ms, and each review is answered after {@code latency}. */
    private void changesWithoutEnd(Duration length, Duration latency, boolean answer) {
        for (int i = 0; i < length.toMillis() / 10; i++) {
            reviews.accessChanged("shop");
            time.advance(Duration.ofMillis(10));
            answerAfter(latency, answer);
        }
    }

    private void answerAfter(Duration latency, boolean answer) {
        for (ManualReviews.Call call : server.open()) {
            if (time.nanoTime() - begun.computeIfAbsent(call, first -> time.nanoTime()) >= latency.toNanos()) {
                call.answer(answer);
            }
        }
    }

    private void pass(Duration length, Duration latency, boolean answer) {
        for (int i = 0; i < length.toMillis() / 10; i++) {
            time.advance(Duration.ofMillis(10));
            answerAfter(latency, answer);
        }
    }

    @Test
    void changesWithoutEnd_areReviewedAtTheDocumentedPace() {
        Followed allowed = follow(TLS);
        server.next().answer(true);
        int before = server.count();

        changesWithoutEnd(Duration.ofMinutes(1), Duration.ofMillis(10), true);

        assertThat(server.count() - before).isBetween(60, MOST_IN_A_MINUTE);
        assertThat(allowed.isAllowed()).isTrue();
        assertThat(told).hasValue(1);
    }

    @Test
    void changesWithoutEnd_whoWasNeverDecided_isDecidedByTheThirdAnswer() {
        Followed tls = follow(TLS);
        for (int i = 1; i <= CachedReviews.MOST_OVERTAKEN; i++) {
            assertThat(tls.decided()).isNotDone();
            assertThat(server.count()).isEqualTo(i);
            reviews.accessChanged("shop");
            server.next().answer(true);
        }

        assertThat(tls.decided()).isDone();
        assertThat(tls.isAllowed()).isTrue();
    }

    @Test
    void changesWithoutEnd_whoMayNot_isDecidedTooAndAllowedSoonAfterwards() {
        Followed tls = follow(TLS);

        changesWithoutEnd(Duration.ofSeconds(2), Duration.ofMillis(200), false);

        assertThat(tls.decided()).isDone();
        assertThat(tls.isAllowed()).isFalse();
        assertThat(tls.reason()).isEqualTo("no rule");
        changesWithoutEnd(Duration.ofSeconds(1), Duration.ofMillis(200), true);
        assertThat(tls.isAllowed()).isTrue();
    }

    @Test
    void changesWithoutEnd_serverTakesFourTenths_nobodyIsDeniedBetween() {
        Followed tls = follow(TLS);
        changesWithoutEnd(Duration.ofSeconds(3), Duration.ofMillis(400), true);
        assertThat(tls.isAllowed()).isTrue();

        changesWithoutEnd(Duration.ofMinutes(1), Duration.ofMillis(400), true);

        assertThat(tls.isAllowed()).isTrue();
        assertThat(told).hasValue(1);
    }

    @Test
    void changesWithoutEnd_serverTakesLongerThanAnAnswerCounts_isDecidedAndSaysWhy() {
        Followed tls = follow(TLS);

        changesWithoutEnd(Duration.ofSeconds(20), Duration.ofMillis(1400), true);

        assertThat(tls.decided()).isDone();
        assertThat(tls.isAllowed()).isFalse();
        assertThat(tls.reason()).contains("more than a second after its request");
        pass(Duration.ofSeconds(15), Duration.ofMillis(1400), true);
        assertThat(tls.isAllowed()).isTrue();
    }

    @Test
    void changesWithoutEnd_revoked_isDeniedByTheNextAnswer() {
        Followed tls = follow(TLS);
        changesWithoutEnd(Duration.ofSeconds(20), Duration.ofMillis(30), true);

        changesWithoutEnd(Duration.ofMillis(550), Duration.ofMillis(30), false);

        assertThat(tls.isAllowed()).isFalse();
    }

    @Test
    void oneReviewForAWaiter_isAnsweredWhileChangesGoOn_andKeepsThePace() {
        List<CompletableFuture<Review>> asked = new ArrayList<>();
        for (int i = 0; i < 600; i++) {
            asked.add(reviews.reviewOwn(TLS));
            changesWithoutEnd(Duration.ofMillis(100), Duration.ofMillis(10), true);
        }

        assertThat(server.count()).isLessThanOrEqualTo(MOST_IN_A_MINUTE);
        // the last ones wait for their turn
        assertThat(asked.subList(0, 585)).allMatch(CompletableFuture::isDone);
        assertThat(asked.get(0).join().allowed()).isTrue();
    }

    @Test
    void followedAgainAndAgain_whileChangesGoOn_keepsThePace() {
        for (int i = 0; i < 600; i++) {
            Followed tls = follow(TLS);
            changesWithoutEnd(Duration.ofMillis(100), Duration.ofMillis(10), true);
            tls.close();
        }

        assertThat(server.count()).isLessThanOrEqualTo(MOST_IN_A_MINUTE);
    }

    @Test
    void failuresWhileChangesGoOn_keepThePace() {
        Followed tls = follow(TLS);
        for (int i = 0; i < 6_000; i++) {
            reviews.accessChanged("shop");
            time.advance(Duration.ofMillis(10));
            server.open().forEach(call -> call.fail(FailureReason.UNAVAILABLE, null));
        }

        assertThat(server.count()).isLessThanOrEqualTo(MOST_IN_A_MINUTE);
        assertThat(tls.decided()).isNotDone();
    }

    @Test
    void threeInARow_areNotPutOff() {
        follow(TLS);
        server.next().answer(false);
        reviews.accessChanged("shop");
        time.advance(CachedReviews.GATHER);
        server.next().answer(false);
        time.advance(Duration.ofMillis(200));
        server.next().answer(false);
        int before = server.count();
        assertThat(before).isEqualTo(3);

        time.advance(Duration.ofMillis(199));
        assertThat(server.count()).isEqualTo(before);
        time.advance(Duration.ofMillis(301));

        assertThat(server.count()).isEqualTo(before + 1);
    }

    @Test
    void answerAfterTenSeconds_toAReviewThatBeganWithinThem_doesNotCountForLong() {
        Followed tls = follow(TLS);
        server.next().answer(true);
        reviews.accessChanged("shop");
        time.advance(CachedReviews.GATHER);
        server.next().answer(true);
        time.advance(Duration.ofMillis(9_850));
        while (server.open().size() > 1) {
            server.next().answer(true);
        }
        // begun 9.9 s after the change, or before: the server may not have known of it
        time.advance(Duration.ofMillis(150));
        server.next().answer(true);

        time.advance(Duration.ofMillis(901));

        assertThat(tls.isAllowed()).isFalse();
    }

    @Test
    void severalChanges_theFirstOneBoundsWhatAnAllowedAnswerCounts() {
        Followed tls = follow(TLS);
        server.next().answer(true);
        reviews.accessChanged("shop");
        time.advance(Duration.ofSeconds(5));
        reviews.accessChanged("shop");
        time.advance(CachedReviews.GATHER);
        // by a server that knows of neither
        server.open().forEach(call -> call.answer(true));

        time.advance(Duration.ofMillis(5_899));
        assertThat(tls.isAllowed()).isTrue();
        time.advance(Duration.ofMillis(1));

        assertThat(tls.isAllowed()).isFalse();
    }

    @Test
    void manyAllowedPairs_whileChangesGoOn_doNotStarveWhoWaitsForTheFirstAnswer() {
        List<Followed> allowed = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            allowed.add(follow(get("allowed" + i)));
        }
        while (!server.open().isEmpty()) {
            server.next().answer(true);
        }
        Followed late = follow(TLS);

        // 256 each 600 ms: a fraction of what all of them are due for
        for (int i = 0; i < 60; i++) {
            reviews.accessChanged("shop");
            time.advance(Duration.ofMillis(100));
            if (i % 6 == 5) {
                server.open().forEach(call -> call.answer(true));
            }
        }

        assertThat(late.decided()).isDone();
        assertThat(late.isAllowed()).isTrue();
        assertThat(allowed).anyMatch(Followed::isAllowed);
    }
}
