package dev.podcache.reflector;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.collect.ImmutableList;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.FailingTimekeeper;
import dev.podcache.testing.ManualTimekeeper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How 600 reflectors of one server recover together: how soon, how fast, and in which order. */
class RecoveryTest {

    private static final int MANY = 600;

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final Random random = new Random(42);
    private final FailingTimekeeper clock = new FailingTimekeeper(time);
    private final Recovery recovery = new Recovery(clock, this::draw);
    private final List<RecoveringObject> all = new ArrayList<>();
    private final List<Long> lists = new ArrayList<>();
    private final List<Long> watches = new ArrayList<>();
    private @Nullable ApiServerException listFailure;
    private @Nullable ApiServerException watchFailure;
    private final List<Runnable> held = new ArrayList<>();
    private boolean watchesHeld;
    private Runnable atFirstOpening = () -> {};
    private int drawsThatThrow;

    /** One object, its server side and its sink. */
    private final class RecoveringObject implements ListerWatcher<String>, ReflectorSink<String> {

        final Reflector<String> reflector = Reflector.ofOneObject(this, this, recovery);
        boolean upToDate;
        boolean expired; // the server accepts watches from the known version and ends them 400 ms later
        int attempts;

        @Nullable
        Consumer<WatchEvent<String>> open;

        @Override
        public CompletableFuture<Listed<String>> list(Duration timeout) {
            lists.add(time.nanoTime());
            attempts++;
            expired = false;
            return listFailure == null
                    ? CompletableFuture.completedFuture(new Listed<>(ImmutableList.of(), "10"))
                    : CompletableFuture.failedFuture(listFailure);
        }

        @Override
        public WatchHandle watch(String version, Duration serverTimeout, Consumer<WatchEvent<String>> events) {
            watches.add(time.nanoTime());
            attempts++;
            if (watchesHeld) {
                held.add(() -> open(events));
            } else if (watchFailure == null) {
                open(events);
            } else {
                events.accept(new WatchEvent.Ended<>(watchFailure));
            }
            return () -> {};
        }

        private void open(Consumer<WatchEvent<String>> events) {
            open = events;
            atFirstOpening.run();
            atFirstOpening = () -> {};
            events.accept(new WatchEvent.Opened<>());
            if (expired) {
                time.schedule(
                        Duration.ofMillis(400),
                        () -> lose(new ApiServerException(FailureReason.EXPIRED, 410, null, "expired", null)));
            }
        }

        void lose(@Nullable ApiServerException why) {
            Consumer<WatchEvent<String>> lost = open;
            open = null;
            if (lost != null) {
                lost.accept(new WatchEvent.Ended<>(why));
            }
        }

        @Override
        public void replace(List<Fetched<String>> items, String resourceVersion) {}

        @Override
        public void upsert(Fetched<String> fetched) {}

        @Override
        public void delete(Fetched<String> last) {}

        @Override
        public void connected() {
            upToDate = true;
        }

        @Override
        public void disconnected(ApiServerException cause) {
            upToDate = false;
        }

        @Override
        public String toString() {
            return "one";
        }
    }

    @AfterEach
    void close() {
        all.forEach(one -> one.reflector.close());
        assertThat(time.scheduledTasks()).isZero();
    }

    private double draw() {
        if (drawsThatThrow > 0) {
            drawsThatThrow--;
            throw new IllegalStateException("thrown by the test");
        }
        return random.nextDouble();
    }

    private void watching(int count) {
        for (int i = 0; i < count; i++) {
            RecoveringObject one = new RecoveringObject();
            all.add(one);
            one.reflector.start();
        }
        assertThat(all).allMatch(one -> one.upToDate);
        time.advance(Duration.ofSeconds(10));
        lists.clear();
        watches.clear();
    }

    private void loseAll(@Nullable ApiServerException why) {
        List.copyOf(all).forEach(one -> one.lose(why));
    }

    @Test
    void start_many_areNotPaced() {
        watching(MANY);
    }

    @Test
    void connectionLost_allWatchesAreBackWithinTwoSeconds_spread() {
        watching(MANY);
        loseAll(noAnswer());
        time.advance(Duration.ofSeconds(2));

        assertThat(watches).hasSize(MANY);
        assertThat(mostWithin(watches, Duration.ofMillis(100))).isLessThan(MANY / 6);
        time.advance(Duration.ofMillis(3_500));
        assertThat(all).as("confirmed").allMatch(one -> one.upToDate);
        assertThat(mostWithin(lists, Duration.ofSeconds(1))).isLessThanOrEqualTo(200);
    }

    @Test
    void watchesAreAcceptedAndThenExpire_eachObjectIsListedOnce() {
        watching(MANY);
        all.forEach(one -> one.expired = true);
        loseAll(noAnswer());
        time.advance(Duration.ofSeconds(10));

        assertThat(lists).hasSize(MANY);
        assertThat(all).allMatch(one -> one.upToDate);
    }

    @Test
    void oneWatchLost_isRetriedWithin200Milliseconds() {
        watching(MANY);
        all.get(0).lose(noAnswer());
        time.advance(Duration.ofMillis(200));

        assertThat(watches).hasSize(1);
    }

    @Test
    void oneWatchLost_getWaits_isConfirmedAtOnce() {
        watching(MANY);
        all.get(0).lose(noAnswer());
        all.get(0).reflector.hurry();
        time.advance(Duration.ofMillis(200));

        assertThat(all.get(0).upToDate).isTrue();
    }

    @Test
    void connectionLost_objectsWithWaitingGetsGoFirst() {
        watching(MANY);
        loseAll(noAnswer());
        List<RecoveringObject> waitedFor = all.subList(MANY - 20, MANY);
        waitedFor.forEach(one -> one.reflector.hurry());
        time.advance(Duration.ofMillis(200));

        assertThat(waitedFor).allMatch(one -> one.upToDate);
    }

    @Test
    void versionForgottenForAll_listsArePacedAt200ASecond_andDoneWithinFourSeconds() {
        watching(MANY);
        loseAll(new ApiServerException(FailureReason.EXPIRED, 410, null, "answered 410", null));
        time.advance(Duration.ofSeconds(4));

        assertThat(lists).hasSize(MANY);
        assertThat(mostWithin(lists, Duration.ofSeconds(1))).isLessThanOrEqualTo(200);
        assertThat(all).allMatch(one -> one.upToDate);
    }

    @Test
    void versionForgottenForOne_isListedAtOnce() {
        watching(MANY);
        all.get(0).lose(new ApiServerException(FailureReason.EXPIRED, 410, null, "answered 410", null));

        assertThat(all.get(0).upToDate).isTrue();
    }

    @Test
    void retryAfterForAll_isNotBroken_thenOneTries_thenAllAreBackSpread() {
        watching(MANY);
        loseAll(throttled());
        time.advance(Duration.ofMillis(999));
        assertThat(watches).isEmpty();
        watchesHeld = true;
        time.advance(Duration.ofMillis(2_001));
        assertThat(watches).hasSize(1);

        watchesHeld = false;
        List.copyOf(held).forEach(Runnable::run);
        time.advance(Duration.ofSeconds(2));
        assertThat(watches).hasSize(MANY);
        assertThat(mostWithin(watches, Duration.ofMillis(100))).isLessThan(MANY / 6);
    }

    @Test
    void retryAfterForAll_againAndAgain_isTriedOnceEachTime_andSeldom() {
        watching(MANY);
        watchFailure = throttled();
        loseAll(throttled());
        time.advance(Duration.ofMinutes(2));
        assertThat(watches).hasSizeBetween(5, 20);

        watchFailure = null;
        time.advance(Duration.ofSeconds(35));
        assertThat(all).allMatch(one -> one.open != null);
    }

    @Test
    void retryAfterForAll_whatWasUnderWayIsServed_othersWaitAllTheSame() {
        watching(MANY);
        watchesHeld = true;
        all.get(0).lose(noAnswer());
        time.advance(Duration.ofMillis(200));
        loseAll(throttled());
        List.copyOf(held).forEach(Runnable::run);
        time.advance(Duration.ofMillis(999));

        assertThat(watches).hasSize(1);
    }

    @Test
    void retryAfterForAll_waitedFor_isTriedFirst() {
        watching(MANY);
        loseAll(throttled());
        RecoveringObject waitedFor = all.get(MANY - 1);
        waitedFor.reflector.hurry();
        watchesHeld = true;
        time.advance(Duration.ofSeconds(3));

        List.copyOf(held).forEach(Runnable::run);
        assertThat(waitedFor.open).isNotNull();
    }

    @Test
    void retryAfterForAll_whatTriesIsNotAnswered_anotherTries() {
        watching(MANY);
        loseAll(throttled());
        watchesHeld = true;
        time.advance(Duration.ofSeconds(3));
        watchesHeld = false;
        time.advance(Duration.ofSeconds(7));

        assertThat(all.stream().filter(one -> one.open != null)).hasSize(MANY - 1);
    }

    @Test
    void serverUnreachable_thenAsksForTime_getsIt() {
        watching(MANY);
        listFailure = noAnswer();
        watchFailure = noAnswer();
        loseAll(noAnswer());
        time.advance(Duration.ofSeconds(10));
        listFailure =
                new ApiServerException(FailureReason.UNAVAILABLE, 503, Duration.ofSeconds(30), "answered 503", null);
        watchFailure = listFailure;
        time.advance(Duration.ofSeconds(1));
        int before = attempts();
        time.advance(Duration.ofSeconds(29));

        assertThat(attempts()).isEqualTo(before);
        listFailure = null;
        watchFailure = null;
        time.advance(Duration.ofSeconds(5));
        assertThat(all).allMatch(one -> one.open != null);
    }

    @Test
    void reflectorsThatWereRefusedAndClosed_areNoReasonForOthersToWait() {
        watching(3);
        watchFailure = throttled();
        loseAll(throttled());
        all.forEach(one -> one.reflector.close());
        watchFailure = null;
        RecoveringObject next = new RecoveringObject();
        all.add(next);
        next.reflector.start();
        time.advance(Duration.ofSeconds(3));

        assertThat(next.upToDate).isTrue();
    }

    @Test
    void serverUnreachable_twice_allAreBackAsSoonEachTime() {
        watching(MANY);
        for (int i = 0; i < 2; i++) {
            listFailure = noAnswer();
            watchFailure = noAnswer();
            loseAll(noAnswer());
            time.advance(Duration.ofSeconds(10));
            listFailure = null;
            watchFailure = null;
            time.advance(Duration.ofMillis(2_500));
            assertThat(all).allMatch(one -> one.open != null);
        }
    }

    /** P8: a proxy may have a limit of its own for one path. */
    @Test
    void oneObjectThrottledAgainAndAgain_delaysNoOther() {
        watching(MANY);
        watchFailure = throttled();
        all.get(0).lose(throttled());
        time.advance(Duration.ofMinutes(2));
        watchFailure = null;
        all.get(1).lose(noAnswer());
        time.advance(Duration.ofMillis(200));

        assertThat(all.get(1).open).isNotNull();
    }

    @Test
    void watchesEndedInGoodOrder_areSpreadToo() {
        watching(MANY);
        loseAll(null);
        time.advance(Duration.ofSeconds(2));

        assertThat(watches).hasSize(MANY);
        assertThat(mostWithin(watches, Duration.ofMillis(100))).isLessThan(MANY / 6);
        assertThat(all).allMatch(one -> one.upToDate);
        assertThat(lists).isEmpty();
    }

    /** P9: one that waits for its turn has no watch either. */
    @Test
    void watchesEndedInGoodOrder_thenServerUnreachable_allCountAsOutdatedWithinTenSeconds() {
        watching(MANY);
        listFailure = noAnswer();
        watchFailure = noAnswer();
        loseAll(null);
        time.advance(Duration.ofSeconds(10));
        assertThat(all).noneMatch(one -> one.upToDate);

        listFailure = null;
        watchFailure = null;
        time.advance(Duration.ofMillis(2_500));
        assertThat(all).as("watched again").allMatch(one -> one.open != null);
        time.advance(Duration.ofMillis(3_500));
        assertThat(all).as("confirmed").allMatch(one -> one.upToDate);
    }

    @Test
    void watchesEndedInGoodOrder_noneFollows_allCountAsOutdatedWithinTwentySeconds_untilConfirmed() {
        watching(MANY);
        watchesHeld = true;
        loseAll(null);
        time.advance(Duration.ofSeconds(10));
        assertThat(all).allMatch(one -> one.upToDate);
        time.advance(Duration.ofSeconds(10));
        assertThat(all).noneMatch(one -> one.upToDate);

        List.copyOf(held).forEach(Runnable::run);
        assertThat(all).noneMatch(one -> one.upToDate);
        time.advance(Duration.ofSeconds(4));
        assertThat(all).allMatch(one -> one.upToDate);
        assertThat(watches).hasSize(MANY);
        assertThat(lists).hasSize(MANY);
    }

    @Test
    void serverUnreachable_isTriedTwiceASecond_thenSeldom_andTheFirstSuccessWakesAll() {
        watching(MANY);
        listFailure = noAnswer();
        watchFailure = noAnswer();
        loseAll(noAnswer());
        time.advance(Duration.ofSeconds(1));
        assertThat(attempts()).as("attempts in the first second").isLessThanOrEqualTo(10);
        int before = attempts();
        time.advance(Duration.ofSeconds(59));
        assertThat(attempts() - before).as("in the rest of the first minute").isBetween(100, 118);
        time.advance(Duration.ofMinutes(1));
        before = attempts();
        time.advance(Duration.ofMinutes(5));
        assertThat(attempts() - before).as("in five later minutes").isBetween(30, 60);

        long tried = all.stream().filter(one -> one.attempts > 2).count();
        assertThat(tried).as("reflectors that tried: not always the same").isGreaterThan(100);
        listFailure = null;
        watchFailure = null;
        long back = time.nanoTime();
        while (all.stream().noneMatch(one -> one.open != null)) {
            time.advance(Duration.ofMillis(10));
        }
        assertThat(time.nanoTime() - back)
                .isLessThanOrEqualTo(Duration.ofSeconds(10).toNanos());
        time.advance(Duration.ofSeconds(2));
        assertThat(all).as("watched again").allMatch(one -> one.open != null);
        time.advance(Duration.ofSeconds(4));
        assertThat(all).allMatch(one -> one.upToDate);
    }

    @Test
    void serverUnreachable_whatIsWaitedForIsTriedFirst_andComesBackAtOnce() {
        watching(MANY);
        listFailure = noAnswer();
        watchFailure = noAnswer();
        loseAll(noAnswer());
        time.advance(Duration.ofSeconds(10));
        RecoveringObject waitedFor = all.get(MANY - 1);
        waitedFor.reflector.hurry();
        int before = waitedFor.attempts;
        time.advance(Duration.ofSeconds(1));
        assertThat(waitedFor.attempts).isGreaterThan(before);

        listFailure = null;
        watchFailure = null;
        time.advance(Duration.ofMillis(500));
        assertThat(waitedFor.upToDate).isTrue();
    }

    @Test
    void serverUnreachable_whatBeginsThenWaitsForItsTurn() {
        watching(MANY);
        listFailure = noAnswer();
        watchFailure = noAnswer();
        loseAll(noAnswer());
        time.advance(Duration.ofSeconds(10));
        int before = attempts();
        for (int i = 0; i < 50; i++) {
            RecoveringObject one = new RecoveringObject();
            all.add(one);
            one.reflector.start();
        }
        assertThat(attempts()).isEqualTo(before);

        listFailure = null;
        watchFailure = null;
        time.advance(Duration.ofSeconds(6));
        assertThat(all).allMatch(one -> one.upToDate);
    }

    @Test
    @ExpectedWarnings("a step threw; this is a bug in Podcache")
    void serverUnreachable_wakingTheOthersThrows_allAreBackAllTheSame() {
        watching(MANY);
        listFailure = noAnswer();
        watchFailure = noAnswer();
        loseAll(noAnswer());
        time.advance(Duration.ofSeconds(10));
        listFailure = null;
        watchFailure = null;
        atFirstOpening = () -> drawsThatThrow = 1;
        time.advance(Duration.ofSeconds(20));

        assertThat(drawsThatThrow).isZero();
        assertThat(all).allMatch(one -> one.upToDate);
    }

    @Test
    void serverUnreachable_whatBeginsThenThrowsAsItIsQueued_beginsAllTheSame() {
        watching(MANY);
        listFailure = noAnswer();
        watchFailure = noAnswer();
        loseAll(noAnswer());
        time.advance(Duration.ofSeconds(10));
        RecoveringObject late = new RecoveringObject();
        all.add(late);
        clock.throwAt(1);
        assertThatThrownBy(late.reflector::start).hasMessage(FailingTimekeeper.MESSAGE);

        listFailure = null;
        watchFailure = null;
        time.advance(Duration.ofSeconds(20));
        assertThat(late.upToDate).isTrue();
    }

    /** P8: one object that is not answered is no outage, however often. */
    @Test
    void oneObjectNeverAnswered_delaysNoOther() {
        watching(MANY);
        watchFailure = noAnswer();
        RecoveringObject unanswered = all.get(0);
        unanswered.lose(noAnswer());
        time.advance(Duration.ofMinutes(2));
        watchFailure = null;
        all.get(1).lose(noAnswer());
        time.advance(Duration.ofMillis(200));

        assertThat(all.get(1).open).isNotNull();
    }

    private int attempts() {
        return lists.size() + watches.size();
    }

    private static int mostWithin(List<Long> times, Duration window) {
        int most = 0;
        for (long begin : times) {
            Predicate<Long> within = at -> at >= begin && at - begin < window.toNanos();
            most = Math.max(most, (int) times.stream().filter(within).count());
        }
        return most;
    }

    private static ApiServerException throttled() {
        return new ApiServerException(FailureReason.THROTTLED, 429, Duration.ofSeconds(1), "answered 429", null);
    }

    private static ApiServerException noAnswer() {
        return new ApiServerException(FailureReason.UNAVAILABLE, 0, null, "no connection", null);
    }
}
