package dev.podcache.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import com.google.common.base.Splitter;
import dev.podcache.apiserver.AccessReviews.ResourceAccess;
import dev.podcache.apiserver.AccessReviews.Review;
import dev.podcache.apiserver.CachedReviews.Followed;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.Subject;
import dev.podcache.testing.ExpectedWarnings;
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
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Reviews that the test answers, in time that the test drives. */
@ExtendWith(NoLeaks.class)
class CachedReviewsTest {

    private static final Subject WEB = Subject.serviceAccount("shop", "web");
    private static final ResourceAccess TLS = get("shop", "tls");

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final ManualReviews server = new ManualReviews();
    private final CachedReviews reviews = new CachedReviews(server, false, time, () -> 0.5);
    private final AtomicInteger told = new AtomicInteger();

    private static ResourceAccess get(String namespace, String name) {
        return ResourceAccess.of(ObjectKind.SECRET, ObjectKey.of(namespace, name), "get");
    }

    private Followed follow(ResourceAccess access) {
        return reviews.follow(WEB, access, told::incrementAndGet);
    }

    @Test
    void follow_beforeTheAnswer_isDenied() {
        Followed tls = follow(TLS);

        assertThat(tls.isAllowed()).isFalse();
        assertThat(tls.decided()).isNotDone();
        assertThat(tls.reason()).contains("no review was answered yet");
    }

    @Test
    void follow_answered_isAsTheAnswerSays() {
        Followed tls = follow(TLS);
        Followed db = follow(get("shop", "db"));

        server.next().answer(true);
        server.next().answer(false);

        assertThat(tls.isAllowed()).isTrue();
        assertThat(db.isAllowed()).isFalse();
        assertThat(db.reason()).isEqualTo("no rule");
        assertThat(told).hasValue(2);
    }

    @Test
    void follow_onePairByMany_isReviewedOnce() {
        List<Followed> all = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            all.add(follow(TLS));
        }
        CompletableFuture<Review> once = reviews.review(WEB, TLS);

        server.next().answer(true);

        assertThat(server.count()).isOne();
        assertThat(all).allMatch(Followed::isAllowed);
        assertThat(once.join().allowed()).isTrue();
    }

    @Test
    void follow_again_takesTheRememberedAnswer() {
        Followed first = follow(TLS);
        server.next().answer(true);
        first.close();

        Followed second = follow(TLS);

        assertThat(second.isAllowed()).isTrue();
        assertThat(server.count()).isOne();
    }

    @Test
    void follow_closed_isAskedForNoMore() {
        Followed tls = follow(TLS);
        server.next().answer(true);
        tls.close();

        time.advance(Duration.ofHours(1));

        assertThat(server.count()).isOne();
        assertThat(time.scheduledTasks()).isZero();
    }

    @Test
    void allowed_isReviewedAgainWithinFiveMinutes() {
        Followed tls = follow(TLS);
        server.next().answer(true);
        time.advance(Duration.ofMinutes(4));
        assertThat(server.count()).isOne();

        time.advance(Duration.ofMinutes(1));

        assertThat(server.count()).isEqualTo(2);
        assertThat(tls.isAllowed()).isTrue();
        server.next().answer(false);
        assertThat(tls.isAllowed()).isFalse();
        assertThat(told).hasValue(2);
    }

    @Test
    void denied_isReviewedAgainWithin30Seconds() {
        Followed tls = follow(TLS);
        server.next().answer(false);
        time.advance(Duration.ofSeconds(24));
        assertThat(server.count()).isOne();

        time.advance(Duration.ofSeconds(6));
        server.next().answer(true);

        assertThat(tls.isAllowed()).isTrue();
    }

    @Test
    void allowed_withoutALaterAnswer_countsForTwiceItsTime() {
        Followed tls = follow(TLS);
        server.next().answer(true);
        time.advance(Duration.ofMinutes(8));
        assertThat(tls.isAllowed()).isTrue();

        time.advance(Duration.ofMinutes(2));

        assertThat(tls.isAllowed()).isFalse();
        assertThat(tls.reason()).contains("no later one was");
        server.open().forEach(call -> call.answer(true));
        assertThat(tls.isAllowed()).isTrue();
    }

    @Test
    void serverAway_isAskedAgainAfterGrowingPauses() {
        Followed tls = follow(TLS);

        for (int i = 1; i <= 4; i++) {
            assertThat(server.count()).isEqualTo(i);
            server.next().fail(FailureReason.UNAVAILABLE, null);
            time.advance(Duration.ofSeconds(1L << (i - 1)));
        }

        assertThat(tls.decided()).isNotDone();
        assertThat(tls.reason()).contains("the test says so");
        server.next().answer(true);
        assertThat(tls.isAllowed()).isTrue();
    }

    @Test
    @ExpectedWarnings("reviews are refused: POST SubjectAccessReview")
    void reviewsRefused_isDeniedWithTheReason(NoLeaks leaks) {
        Followed tls = follow(TLS);
        Followed db = follow(get("shop", "db"));

        server.next().fail(FailureReason.FORBIDDEN, null);
        server.next().fail(FailureReason.FORBIDDEN, null);

        assertThat(tls.decided()).isDone();
        assertThat(tls.reason()).contains("POST SubjectAccessReview");
        assertThat(ApiServerException.reasonOf(tls.failure())).isEqualTo(FailureReason.FORBIDDEN);
        time.advance(Duration.ofSeconds(30));
        assertThat(server.count()).isEqualTo(4);
        assertThat(leaks.warnings()).as("one for all").hasSize(1);
        server.open().forEach(call -> call.answer(false));
        assertThat(tls.isAllowed() || db.isAllowed()).isFalse();
        assertThat(tls.failure()).isNull();
    }

    @Test
    void tooManyRequests_nothingIsSentUntilThePauseIsOver() {
        Followed tls = follow(TLS);
        server.next().fail(FailureReason.THROTTLED, Duration.ofSeconds(7));
        Followed db = follow(get("shop", "db"));
        CompletableFuture<Review> once = reviews.review(WEB, get("shop", "other"));
        time.advance(Duration.ofSeconds(7).minusNanos(1));
        assertThat(server.count()).isOne();
        assertThat(once).isCompletedExceptionally();

        time.advance(Duration.ofNanos(1));

        assertThat(server.open()).hasSize(2);
        server.open().forEach(call -> call.answer(true));
        assertThat(tls.isAllowed() && db.isAllowed()).isTrue();
    }

    private List<Followed> followMany(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> follow(get("shop", "s" + i)))
                .toList();
    }

    private void answerAfter(Duration time) {
        this.time.advance(time);
        server.open().forEach(call -> call.answer(true));
    }

    @Test
    void manyPairs_busyServer_hasSomeHundredsInFlight() {
        List<Followed> all = followMany(10_000);
        int most = 0;
        while (!server.open().isEmpty()) {
            most = Math.max(most, server.open().size());
            // it answers a thousand in a second
            time.advance(Duration.ofMillis(1));
            server.next().answer(true);
        }

        assertThat(most).isBetween(256, 3 * 256);
        assertThat(all).allMatch(Followed::isAllowed);
        assertThat(server.count()).isEqualTo(10_000);
    }

    @Test
    void manyPairs_distantServer_hasAllInFlightAfterTheFirstAnswers() {
        List<Followed> all = followMany(10_000);
        for (int expected : new int[] {256, 2048, 2048, 2048, 2048, 10_000 - 256 - 4 * 2048}) {
            assertThat(server.open()).hasSize(expected);
            answerAfter(Duration.ofMillis(500));
        }

        assertThat(all).allMatch(Followed::isAllowed);
    }

    @Test
    void manyPairs_serverThatIsNear_hasTheFirstWindow() {
        followMany(2_000);
        for (int i = 0; i < 7; i++) {
            assertThat(server.open()).hasSize(256);
            answerAfter(Duration.ofMillis(200));
        }
    }

    @Test
    void manyPairs_afterARest_theWindowIsStillOpen() {
        followMany(256 + 2_048);
        answerAfter(Duration.ofMillis(500));
        answerAfter(Duration.ofMillis(500));
        assertThat(server.open()).isEmpty();

        IntStream.range(0, 2_048).forEach(i -> follow(get("shop", "later" + i)));

        assertThat(server.open()).hasSize(2_048);
    }

    /** What was sent while reviews were held tells how far away the server is. */
    @ParameterizedTest
    @CsvSource({
        "500 501 620 625, 2000",
        "500 501 620 626, 256", // one was much slower: it may be busy
        "256 256 256 256, 256", // near enough
        "'', 256"
    })
    void manyPairs_heldMeanwhile_asManyAreInFlightAsOtherAnswersAllow(String millis, int expected) {
        reviews.hold();
        List<Followed> all = followMany(2_000);
        assertThat(server.open()).isEmpty();

        reviews.release(Splitter.on(' ')
                .omitEmptyStrings()
                .splitToStream(millis)
                .map(each -> Duration.ofMillis(Long.parseLong(each)))
                .toList());

        assertThat(server.open()).hasSize(expected);
        reviews.release(List.of(Duration.ofSeconds(1)));
        assertThat(server.open()).as("they were not held").hasSize(expected);
        answerAfter(Duration.ofMillis(500));
        assertThat(all.get(255).isAllowed()).isTrue();
    }

    @Test
    void manyPairs_answersGetSlowerOrFail_noMoreAreInFlight() {
        followMany(20_000);
        time.advance(Duration.ofMillis(500));
        server.open().subList(0, 127).forEach(call -> call.answer(true));
        assertThat(server.open()).as("after too few answers").hasSize(256);
        server.next().answer(true);
        assertThat(server.open()).as("after enough").hasSize(2048);
        server.open().subList(0, 128).forEach(call -> call.answer(true));
        answerAfter(Duration.ofMillis(650));
        assertThat(server.open()).as("slower").hasSize(2048);
        answerAfter(Duration.ofMillis(1_002));
        assertThat(server.open()).as("twice as slow").hasSize(256);
        answerAfter(Duration.ofMillis(500));
        assertThat(server.open()).as("as fast as ever").hasSize(2048);

        server.open().forEach(call -> call.fail(FailureReason.UNAVAILABLE, null));

        assertThat(server.open()).hasSize(256);
    }

    /** Of our own access there may be a review for each object that is watched. */
    @Test
    void ownAccess_isReviewedAfterThatOfSubjects() {
        reviews.hold();
        for (int i = 0; i < 300; i++) {
            reviews.reviewOwn(get("shop", "s" + i));
        }
        Followed tls = follow(TLS);

        reviews.release(List.of());
        server.next().answer(true);

        assertThat(tls.isAllowed()).isTrue();
        assertThat(server.open()).isNotEmpty().allMatch(call -> call.subject() == null);
    }

    @Test
    void manyPairs_answeredAtOnce_needNoStack() {
        server.answerBy((subject, access) -> true);
        List<Followed> all = new ArrayList<>();
        Followed held = follow(TLS);
        for (int i = 0; i < 20_000; i++) {
            all.add(follow(get("shop", "s" + i)));
        }

        reviews.accessChanged("shop");
        time.advance(CachedReviews.GATHER);

        assertThat(all).allMatch(Followed::isAllowed);
        assertThat(held.isAllowed()).isTrue();
        assertThat(server.count()).isEqualTo(2 * 20_001);
    }

    @Test
    void accessChanged_answerOfAReviewThatBeganBefore_isDropped() {
        Followed tls = follow(TLS);

        reviews.accessChanged("shop");
        server.next().answer(true);

        assertThat(tls.isAllowed()).isFalse();
        assertThat(tls.decided()).isNotDone();
        server.next().answer(false);
        assertThat(tls.decided()).isDone();
        assertThat(tls.isAllowed()).isFalse();
    }

    @Test
    void accessChanged_inAnotherNamespace_changesNothing() {
        Followed tls = follow(TLS);

        reviews.accessChanged("other");
        server.next().answer(true);

        assertThat(tls.isAllowed()).isTrue();
        time.advance(Duration.ofSeconds(20));
        assertThat(server.count()).isOne();
    }

    @Test
    void accessChanged_manyTimesAtOnce_isReviewedOnceAndTheAllowedFirst() {
        List<Followed> allowed = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            follow(get("shop", "denied" + i));
            allowed.add(follow(get("shop", "allowed" + i)));
        }
        while (!server.open().isEmpty()) {
            ManualReviews.Call call = server.next();
            call.answer(call.access().name().startsWith("allowed"));
        }
        int before = server.count();

        for (int i = 0; i < 50; i++) {
            reviews.accessChanged("shop");
        }
        time.advance(CachedReviews.GATHER);

        assertThat(server.count()).isEqualTo(before + 256);
        assertThat(server.open()).allMatch(call -> call.access().name().startsWith("allowed"));
        assertThat(allowed).allMatch(Followed::isAllowed);
    }

    @Test
    void accessChanged_anAuthorizerThatLags_isAskedEachSecondForTenSeconds() {
        Followed tls = follow(TLS);
        server.next().answer(true);
        reviews.accessChanged("");
        time.advance(CachedReviews.GATHER);

        // answers by the old rules for three seconds
        for (int i = 0; i < 3; i++) {
            server.next().answer(true);
            assertThat(tls.isAllowed()).isTrue();
            time.advance(Duration.ofSeconds(1));
        }
        server.next().answer(false);

        assertThat(tls.isAllowed()).isFalse();
    }

    @Test
    void accessChanged_allowedAfterTenSeconds_countsAsAnyAnswer() {
        Followed tls = follow(TLS);
        server.next().answer(true);
        reviews.accessChanged("");
        time.advance(CachedReviews.GATHER);
        while (!server.open().isEmpty()) {
            server.next().answer(true);
            time.advance(Duration.ofSeconds(1));
        }
        int asked = server.count();

        time.advance(Duration.ofMinutes(3));

        assertThat(asked).isEqualTo(12);
        assertThat(server.count()).isEqualTo(asked);
        assertThat(tls.isAllowed()).isTrue();
    }

    @Test
    void accessChanged_allowedByAServerThatTakesItsTime_staysAllowed() {
        Followed tls = follow(TLS);
        server.next().answer(true);
        reviews.accessChanged("");
        time.advance(CachedReviews.GATHER);
        Map<ManualReviews.Call, Integer> since = new HashMap<>();
        for (int step = 0; step < 3000; step++) {
            for (ManualReviews.Call call : server.open()) {
                since.putIfAbsent(call, step);
                if (step - since.get(call) == 17) {
                    call.answer(true);
                }
            }
            time.advance(Duration.ofMillis(5));
            assertThat(tls.isAllowed()).as("after %d steps", step).isTrue();
        }

        assertThat(told).hasValue(1);
    }

    /** Has the access changed every 20 ms, by answers that take 30 ms. */
    private void changesWithoutEnd(Duration time, boolean answer) {
        Map<ManualReviews.Call, Integer> since = new HashMap<>();
        for (int step = 0; step < time.toMillis() / 10; step++) {
            for (ManualReviews.Call call : server.open()) {
                since.putIfAbsent(call, step);
                if (step - since.get(call) == 3) {
                    call.answer(answer);
                }
            }
            if (step % 2 == 0) {
                reviews.accessChanged("shop");
            }
            this.time.advance(Duration.ofMillis(10));
        }
    }

    @Test
    void accessChanged_withoutEnd_deniesNobodyWhoIsAllowed_andTheOthersWithinElevenSeconds() {
        Followed tls = follow(TLS);
        server.next().answer(true);
        changesWithoutEnd(Duration.ofSeconds(40), true);
        assertThat(tls.isAllowed()).isTrue();
        assertThat(told).hasValue(1);

        changesWithoutEnd(Duration.ofSeconds(11), false);

        assertThat(tls.isAllowed()).isFalse();
    }

    @Test
    void accessChanged_longAgo_answerFromBeforeDoesNotCountAgain() {
        Followed first = follow(TLS);
        server.next().answer(true);
        first.close();
        reviews.accessChanged("shop");
        time.advance(Duration.ofMinutes(2).plusSeconds(1));
        reviews.accessChanged("other");

        Followed again = follow(TLS);

        assertThat(again.isAllowed()).isFalse();
        server.next().answer(true);
        assertThat(again.isAllowed()).isTrue();
    }

    @Test
    void accessChanged_isForgottenWhileAReviewIsUnderWay_itsAnswerCounts() {
        reviews.accessChanged("shop");
        time.advance(Duration.ofMinutes(2));
        Followed tls = follow(TLS);
        time.advance(Duration.ofSeconds(1));
        reviews.accessChanged("other");

        server.next().answer(true);

        assertThat(tls.isAllowed()).isTrue();
        assertThat(server.count()).isOne();
    }

    @Test
    void accessChanged_noAnswerAfterIt_isDeniedAfterElevenSeconds() {
        Followed tls = follow(TLS);
        server.next().answer(true);
        reviews.accessChanged("shop");
        time.advance(Duration.ofSeconds(11).minusNanos(1));
        assertThat(tls.isAllowed()).isTrue();

        time.advance(Duration.ofNanos(1));

        assertThat(tls.isAllowed()).isFalse();
    }

    @Test
    void accessChanged_deniedByTheOldRules_isAskedAgainSoon() {
        Followed tls = follow(TLS);
        server.next().answer(false);
        reviews.accessChanged("shop");
        time.advance(CachedReviews.GATHER);
        server.next().answer(false);

        time.advance(Duration.ofMillis(200));
        server.next().answer(true);

        assertThat(tls.isAllowed()).isTrue();
    }

    @Test
    void twoServers_ofWhichOneLags_areServedElevenSecondsAtMost() {
        AtomicInteger asked = new AtomicInteger();
        Followed tls = follow(TLS);
        server.next().answer(true);
        long revoked = time.nanoTime();
        // every second review is answered by the server that learns of the change after nine seconds
        server.answerBy((subject, access) -> asked.incrementAndGet() % 2 == 0
                && time.nanoTime() - revoked < Duration.ofSeconds(9).toNanos());
        reviews.accessChanged("shop");

        time.advance(Duration.ofSeconds(11));

        for (int seconds = 11; seconds < 900; seconds++) {
            assertThat(tls.isAllowed()).as("after %s s", seconds).isFalse();
            time.advance(Duration.ofSeconds(1));
        }
    }

    @Test
    void serviceAccountGone_isDenied() {
        server.answerBy((subject, access) -> true);
        server.serviceAccountsExist(false);
        CachedReviews asking = new CachedReviews(server, true, time, () -> 0.5);

        Followed tls = asking.follow(WEB, TLS, () -> {});
        Followed jane =
                asking.follow(Subject.user("jane", List.of("system:authenticated"), "", Map.of()), TLS, () -> {});

        assertThat(tls.isAllowed()).isFalse();
        assertThat(tls.reason()).contains("ServiceAccount shop/web does not exist");
        assertThat(jane.isAllowed()).isTrue();
    }

    @Test
    void close_deniesAndAnswersAll() {
        Followed tls = follow(TLS);
        server.next().answer(true);
        Followed db = follow(get("shop", "db"));
        CompletableFuture<Review> once = reviews.review(WEB, get("shop", "once"));

        reviews.close();

        assertThat(tls.isAllowed()).isFalse();
        assertThat(db.decided()).isDone();
        assertThat(once).isCompletedExceptionally();
        assertThat(time.scheduledTasks()).isZero();
        server.open().forEach(call -> call.answer(true));
        assertThat(db.isAllowed()).isFalse();
        assertThatCode(() -> reviews.follow(WEB, TLS, () -> {}).close()).doesNotThrowAnyException();
    }
}
