package dev.podcache.reflector;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.ManualListerWatcher;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.TooManyRequests;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The loop, call by call. */
@ExtendWith(NoLeaks.class)
class ReflectorTest extends ReflectorFixture {

    private static final Duration ALMOST = Duration.ofMillis(199);

    @Test
    void start_listAndEvents_reachTheSinkInOrder() {
        watching();
        server.watch().upsert("b", "11");
        server.watch().delete("a", "12");

        assertThat(server.watch().resourceVersion).isEqualTo("10");
        assertThat(sink.calls).containsExactly("replace [a]@10", "connected", "upsert b", "delete a");
    }

    @Test
    void start_twice_listsOnce() {
        reflector.start();
        reflector.start();

        assertThat(server.lists()).isEqualTo(1);
    }

    @Test
    void serverTimeout_anyJitter_isBetween30And60Minutes() {
        watching();
        ManualListerWatcher<String> other = new ManualListerWatcher<>();
        new Reflector<>(other, new RecordingSink(), new Recovery(time, () -> 0.999)).start();
        other.answer("1", List.of());

        assertThat(server.watch().serverTimeout).isEqualTo(Duration.ofMinutes(30));
        assertThat(other.watch().serverTimeout).isBetween(Duration.ofMinutes(59), Duration.ofMinutes(60));
    }

    @Test
    void watch_endedInGoodOrderAfterAnEvent_isResumedAtOnceFromThatEvent() {
        watching();
        server.watch().upsert("b", "11");
        server.watch().end(null);

        assertThat(server.watches()).isEqualTo(2);
        assertThat(server.watch().resourceVersion).isEqualTo("11");
        assertThat(sink.calls).doesNotContain("disconnected UNAVAILABLE");
    }

    @Test
    void watch_endedAfterADeletion_isResumedFromThatDeletion() {
        watching();
        server.watch().delete("a", "12");
        server.watch().end(null);

        assertThat(server.watch().resourceVersion).isEqualTo("12");
    }

    @Test
    void watch_endedAfterASkippedObject_isResumedFromItsVersion() {
        watching();
        List<String> before = List.copyOf(sink.calls);
        server.watch().tell(new WatchEvent.Undecoded<>("12"));
        server.watch().end(null);

        assertThat(server.watch().resourceVersion).isEqualTo("12");
        assertThat(sink.calls).isEqualTo(before);
        // unlike a bookmark, it does not announce others
        time.advance(Duration.ofMinutes(10));
        assertThat(server.openWatches()).isEqualTo(1);
        assertThat(server.watches()).isEqualTo(2);
    }

    @Test
    void watch_endedAfterABookmark_isResumedFromThatBookmark() {
        watching();
        server.watch().bookmark("99");
        server.watch().end(null);

        assertThat(server.watch().resourceVersion).isEqualTo("99");
        assertThat(server.lists()).isEqualTo(1);
    }

    @Test
    void watch_openForASecondWithoutEvents_endsInGoodOrder() {
        watching();
        time.advance(Duration.ofSeconds(1));
        server.watch().end(null);

        assertThat(server.watches()).isEqualTo(2);
    }

    @Test
    void watch_endedInGoodOrderAndNoneFollows_isReportedOnce_untilOneIsAccepted() {
        watching();
        time.advance(Duration.ofSeconds(1));
        server.watch().end(null);
        time.advance(Duration.ofMinutes(5));
        assertThat(sink.calls).containsExactly("replace [a]@10", "connected", "disconnected UNAVAILABLE");

        server.watch().open();
        time.advance(Duration.ofMinutes(5));
        assertThat(sink.calls).endsWith("disconnected UNAVAILABLE", "connected");
        assertThat(server.watches()).isEqualTo(2);
    }

    /** The time without a watch counts from the end of the last one. */
    @Test
    void watch_endedInGoodOrderBeforeEachSweep_andReplacedAfterIt_isNotReported() {
        watching();
        for (int i = 0; i < 5; i++) {
            time.advance(Duration.ofSeconds(9));
            server.watch().end(null);
            time.advance(Duration.ofSeconds(1));
            server.watch().open();
        }

        assertThat(sink.calls).doesNotContain("disconnected UNAVAILABLE");
    }

    /** Nothing counts as up to date yet. */
    @Test
    void watch_theFirstIsNotAccepted_isNotReportedSoon() {
        reflector.start();
        server.answer("10", listOf("a"));
        time.advance(Duration.ofMinutes(5));

        assertThat(sink.calls).containsExactly("replace [a]@10");
    }

    @Test
    void watch_failedAfterOneEndedInGoodOrder_isReportedOnce() {
        watching();
        time.advance(Duration.ofSeconds(1));
        server.watch().end(null);
        server.watch().end(failure(FailureReason.UNAVAILABLE, null));
        time.advance(Duration.ofMinutes(5));

        assertThat(sink.calls).containsExactly("replace [a]@10", "connected", "disconnected UNAVAILABLE");
    }

    @Test
    void watch_serverReportsAnErrorInIt_isFollowedByAList() {
        watching();
        server.watch().end(new ApiServerException(FailureReason.UNAVAILABLE, 500, null, "an ERROR event", null));
        time.advance(Duration.ofMillis(200));

        assertThat(server.lists()).isEqualTo(2);
        assertThat(server.watches()).isEqualTo(1);
    }

    @Test
    void watch_refusedWithAnError_isTriedAgainFromTheSameVersion() {
        reflector.start();
        server.answer("5", List.of());
        server.watch().end(new ApiServerException(FailureReason.UNAVAILABLE, 503, null, "answered 503", null));
        time.advance(Duration.ofMillis(200));

        assertThat(server.lists()).isEqualTo(1);
        assertThat(server.watch().resourceVersion).isEqualTo("5");
    }

    @Test
    void watch_endedAtOnceWithoutAReason_countsAsAFailure() {
        watching();
        server.watch().end(null);

        assertThat(server.watches()).isEqualTo(1);
        assertThat(sink.calls).endsWith("disconnected UNAVAILABLE");
        time.advance(Duration.ofMillis(200));
        assertThat(server.watches()).isEqualTo(2);
    }

    @Test
    void watch_expired_listsAgainAtOnce() {
        watching();
        server.watch().end(failure(FailureReason.EXPIRED, null));

        assertThat(server.lists()).isEqualTo(2);
        server.answer("50", List.of());
        assertThat(server.watch().resourceVersion).isEqualTo("50");
        assertThat(sink.calls).endsWith("disconnected EXPIRED", "replace []@50");
    }

    @Test
    void watch_expiredAfterALongFailure_listsAgainAtOnceAllTheSame() {
        watching();
        for (int i = 0; i < 8; i++) {
            server.watch().end(failure(FailureReason.UNAVAILABLE, null));
            time.advance(Duration.ofSeconds(30));
        }
        server.watch().end(failure(FailureReason.EXPIRED, null));

        assertThat(server.lists()).isEqualTo(2);
    }

    @Test
    void watch_expiredTwiceInARow_pausesBeforeTheSecondList() {
        watching();
        server.watch().end(failure(FailureReason.EXPIRED, null));
        server.answer("50", List.of());
        server.watch().end(failure(FailureReason.EXPIRED, null));

        assertThat(server.lists()).isEqualTo(2);
        time.advance(Duration.ofMillis(400));
        assertThat(server.lists()).isEqualTo(3);
    }

    @Test
    void watch_eventThatCannotBeRead_listsAgainAfterAPause() {
        watching();
        server.watch().end(failure(FailureReason.UNREADABLE, null));

        assertThat(server.lists()).isEqualTo(1);
        time.advance(Duration.ofMillis(200));
        assertThat(server.lists()).isEqualTo(2);
    }

    @Test
    void watch_broken_isResumedAfterAPauseWithoutAList() {
        watching();
        server.watch().end(failure(FailureReason.UNAVAILABLE, null));

        time.advance(ALMOST);
        assertThat(server.watches()).isEqualTo(1);
        time.advance(MILLI);
        assertThat(server.watches()).isEqualTo(2);
        assertThat(server.lists()).isEqualTo(1);
    }

    @Test
    void list_failingAgainAndAgain_isRepeatedAfterDoublingPausesUpTo30Seconds() {
        reflector.start();
        List<Long> pauses = new ArrayList<>();
        for (int i = 0; i < 11; i++) {
            server.fail(new ApiServerException(FailureReason.UNAVAILABLE, 503, null, "answered 503", null));
            long before = time.nanoTime();
            int lists = server.lists();
            while (server.lists() == lists) {
                time.advance(Duration.ofMillis(100));
            }
            pauses.add(Duration.ofNanos(time.nanoTime() - before).toMillis());
        }

        assertThat(pauses)
                .containsExactly(200L, 400L, 800L, 1600L, 3200L, 6400L, 12_800L, 25_600L, 30_000L, 30_000L, 30_000L);
    }

    @Test
    void list_refused_isRepeatedAsAfterAnyFailure() {
        assertThat(triesOfRefusedLists()).containsExactly(0L, 200L, 600L, 1_400L);
    }

    /** For an object whose reference is new. These refusals do not count for the pauses after them. */
    @Test
    void list_refusedEarly_isRepeatedWhenTheSinkSays() {
        sink.pausesAfterRefusals.addAll(List.of(Duration.ofMillis(50), Duration.ofMillis(100), Duration.ofMillis(200)));

        assertThat(triesOfRefusedLists()).containsExactly(0L, 50L, 150L, 350L, 550L, 950L, 1_750L);
        assertThat(sink.calls).containsOnly("disconnected FORBIDDEN");
    }

    private List<Long> triesOfRefusedLists() {
        reflector.start();
        List<Long> tries = new ArrayList<>();
        for (int milli = 0; milli < 2_000; milli++) {
            if (server.lists() > tries.size()) {
                tries.add(Duration.ofNanos(time.nanoTime()).toMillis());
                server.fail(failure(FailureReason.FORBIDDEN, null));
            }
            time.advance(MILLI);
        }
        return tries;
    }

    @ParameterizedTest
    @EnumSource
    void list_throttledForTwoSeconds_isNotRepeatedBefore(TooManyRequests said) {
        reflector.start();
        server.fail(said.answer());

        time.advance(Duration.ofMillis(1999));
        assertThat(server.lists()).isEqualTo(1);
        time.advance(MILLI);
        assertThat(server.lists()).isEqualTo(2);
    }

    @ParameterizedTest
    @EnumSource
    void watch_throttledForTwoSeconds_isNotRepeatedBefore(TooManyRequests said) {
        watching();
        server.watch().end(said.answer());

        time.advance(Duration.ofMillis(1999));
        assertThat(server.watches()).isEqualTo(1);
        time.advance(MILLI);
        assertThat(server.watches()).isEqualTo(2);
    }

    @Test
    void failure_versionForgottenAndAPauseAskedFor_isNotListedAtOnce() {
        watching();
        server.watch().end(failure(FailureReason.EXPIRED, Duration.ofSeconds(2)));

        time.advance(Duration.ofMillis(1999));
        assertThat(server.lists()).isEqualTo(1);
        time.advance(MILLI);
        assertThat(server.lists()).isEqualTo(2);
    }

    @Test
    void failure_withRetryAfterOfAYear_waitsTwoMinutes() {
        reflector.start();
        server.fail(failure(FailureReason.THROTTLED, Duration.ofDays(365)));

        time.advance(Duration.ofMinutes(2).minus(MILLI));
        assertThat(server.lists()).isEqualTo(1);
        time.advance(MILLI);
        assertThat(server.lists()).isEqualTo(2);
    }

    @Test
    void failure_withAShorterRetryAfter_keepsTheBackoff() {
        watching();
        server.watch().end(failure(FailureReason.UNAVAILABLE, Duration.ofMillis(1)));

        time.advance(ALMOST);
        assertThat(server.watches()).isEqualTo(1);
    }

    @Test
    void failure_afterAnEvent_isAFirstOneAgain() {
        watching();
        for (int i = 0; i < 5; i++) {
            server.watch().upsert("b", "1" + i);
            server.watch().end(failure(FailureReason.UNAVAILABLE, null));
            time.advance(Duration.ofMillis(200));
            assertThat(server.watches()).isEqualTo(i + 2);
            server.watch().open();
        }
    }

    @Test
    void failure_afterSomeQuietSeconds_isAFirstOneAgain() {
        watching();
        for (int i = 0; i < 5; i++) {
            time.advance(Duration.ofSeconds(5));
            server.watch().end(failure(FailureReason.UNAVAILABLE, null));
            time.advance(Duration.ofMillis(200));
            assertThat(server.watches()).isEqualTo(i + 2);
            server.watch().open();
        }
    }

    @Test
    void failure_rightAfterOpening_keepsTheBackoffGrowing() {
        watching();
        server.watch().end(failure(FailureReason.UNAVAILABLE, null));
        time.advance(Duration.ofMillis(200));
        server.watch().open();
        server.watch().end(failure(FailureReason.UNAVAILABLE, null));

        time.advance(Duration.ofMillis(399));
        assertThat(server.watches()).isEqualTo(2);
        time.advance(MILLI);
        assertThat(server.watches()).isEqualTo(3);
    }

    @Test
    void watch_refusedAndThenAccepted_tellsBoth() {
        watching();
        server.watch().end(failure(FailureReason.FORBIDDEN, null));
        time.advance(Duration.ofMillis(200));
        server.watch().open();

        assertThat(sink.calls).endsWith("disconnected FORBIDDEN", "connected");
    }

    @Test
    void silence_ofAWatchThatBroughtABookmark_isAFailureAfter90Seconds() {
        watching();
        server.watch().bookmark("20");
        ManualListerWatcher.ManualWatch<String> silent = server.watch();

        time.advance(Duration.ofSeconds(89));
        assertThat(silent.closed()).isFalse();
        time.advance(Duration.ofSeconds(1));

        assertThat(silent.closed()).isTrue();
        assertThat(sink.calls).endsWith("disconnected TIMEOUT");
        time.advance(Duration.ofMillis(200));
        assertThat(server.watch().resourceVersion).isEqualTo("20");
    }

    /** One timer of all reflectors looks at their watches every 10 s. */
    @Test
    void silence_overBetweenTwoSweeps_isNoticedByTheNext() {
        watching();
        time.advance(Duration.ofSeconds(1));
        server.watch().bookmark("20");
        time.advance(Duration.ofSeconds(98));
        assertThat(server.watch().closed()).isFalse();
        time.advance(Duration.ofSeconds(1));

        assertThat(server.watch().closed()).isTrue();
        assertThat(sink.calls).endsWith("disconnected TIMEOUT");
    }

    @Test
    void sweeps_areOneTimerForAllReflectors_untilTheLastIsClosed() {
        Recovery shared = new Recovery(time, () -> 0.0);
        List<Reflector<String>> reflectors = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            ManualListerWatcher<String> each = new ManualListerWatcher<>();
            Reflector<String> one = new Reflector<>(each, new RecordingSink(), shared);
            one.start();
            each.answer("10", List.of());
            each.watch().open();
            reflectors.add(one);
        }
        time.advance(Duration.ofMinutes(1));
        assertThat(time.scheduledTasks()).isEqualTo(1);
        reflectors.get(0).close();
        reflectors.get(2).close();
        assertThat(time.scheduledTasks()).isEqualTo(1);
        reflectors.get(1).close();

        assertThat(time.scheduledTasks()).isZero();
    }

    /** The server counts from when it accepts a watch, which may be long after the request. */
    @Test
    void watch_acceptedLate_countsItsTimeFromThen() {
        reflector.start();
        server.answer("10", listOf("a"));
        time.advance(Duration.ofMinutes(1));
        server.watch().open();
        time.advance(Duration.ofMinutes(30).plusSeconds(29));
        assertThat(server.watch().closed()).isFalse();
        ManualListerWatcher.ManualWatch<String> overdue = server.watch();
        time.advance(Duration.ofSeconds(11));

        assertThat(overdue.closed()).isTrue();
    }

    @Test
    void watch_neverAccepted_isGivenUpAllTheSame() {
        reflector.start();
        server.answer("10", listOf("a"));
        ManualListerWatcher.ManualWatch<String> unanswered = server.watch();
        time.advance(Duration.ofMinutes(31));

        assertThat(unanswered.closed()).isTrue();
        assertThat(sink.calls).contains("disconnected TIMEOUT");
    }

    @Test
    void silence_interruptedByAnEvent_countsFromThatEvent() {
        watching();
        server.watch().bookmark("20");
        time.advance(Duration.ofSeconds(60));
        server.watch().upsert("b", "21");
        time.advance(Duration.ofSeconds(89));

        assertThat(server.watch().closed()).isFalse();
        time.advance(Duration.ofSeconds(1));
        assertThat(server.watch().closed()).isTrue();
    }

    @Test
    void silence_ofAWatchThatNeverBroughtABookmark_isNotJudged() {
        watching();
        time.advance(Duration.ofMinutes(29));

        assertThat(server.watch().closed()).isFalse();
    }

    @Test
    void watch_notEndedByTheServerInTime_isGivenUp() {
        watching();
        ManualListerWatcher.ManualWatch<String> overdue = server.watch();
        time.advance(Duration.ofMinutes(31));

        assertThat(overdue.closed()).isTrue();
        assertThat(server.watches()).isEqualTo(2);
    }

    @Test
    void event_ofAWatchThatWasGivenUp_isIgnored() {
        watching();
        server.watch().bookmark("20");
        ManualListerWatcher.ManualWatch<String> old = server.watch();
        time.advance(Duration.ofSeconds(90));
        int before = sink.calls.size();

        old.upsert("late", "30");
        old.end(null);

        assertThat(sink.calls).hasSize(before);
    }

    @Test
    void watch_endedAtOnceAgainAndAgainThoughItBringsEvents_isPaused() {
        watching();
        for (int i = 0; i < 2; i++) {
            server.watch().upsert("b", "1" + i);
            server.watch().end(null);
            server.watch().open();
        }
        assertThat(server.watches()).isEqualTo(3);
        for (int pause = 200; pause <= 1_600; pause *= 2) {
            int before = server.watches();
            server.watch().upsert("b", "2");
            server.watch().end(null);
            time.advance(Duration.ofMillis(pause - 1));
            assertThat(server.watches()).isEqualTo(before);
            time.advance(MILLI);
            assertThat(server.watches()).isEqualTo(before + 1);
            server.watch().open();
        }
    }

    @Test
    void watch_endedAfterAnEventWithoutAVersion_isResumedFromTheOneBefore() {
        watching();
        server.watch().upsert("b", "");
        server.watch().end(null);

        assertThat(server.watch().resourceVersion).isEqualTo("10");
        assertThat(server.lists()).isEqualTo(1);
    }

    @Test
    void list_withoutAVersion_isWatchedWithoutOneAndListedAgainAfterThat() {
        watchingWithoutAVersion();
        assertThat(server.watch().resourceVersion).isEmpty();

        breakWatch();

        assertThat(server.lists()).isEqualTo(2);
    }

    /** It began with the existing objects, whose versions are old. */
    @Test
    void watchWithoutAVersion_brokenBeforeABookmark_isListedAgain() {
        watchingWithoutAVersion();
        server.watch().upsert("b", "7");
        breakWatch();

        assertThat(server.lists()).isEqualTo(2);
        assertThat(server.watches()).isEqualTo(1);
    }

    @Test
    void watchWithoutAVersion_brokenAfterABookmark_isResumedFromWhatCameSince() {
        watchingWithoutAVersion();
        server.watch().bookmark("9");
        server.watch().upsert("b", "11");
        breakWatch();

        assertThat(server.watch().resourceVersion).isEqualTo("11");
        assertThat(server.lists()).isEqualTo(1);
    }

    private void watchingWithoutAVersion() {
        reflector.start();
        server.answer("", listOf("a"));
        server.watch().open();
    }

    private void breakWatch() {
        server.watch().end(failure(FailureReason.UNAVAILABLE, null));
        time.advance(Duration.ofMillis(200));
    }

    /** Lists and bookmarks of one moment have the same version; a String for each of thousands would be a waste. */
    @Test
    void versions_equalInSeveralReflectors_areKeptAsOneString() {
        Recovery shared = new Recovery(time, () -> 0.0);
        ManualListerWatcher<String> one = new ManualListerWatcher<>();
        ManualListerWatcher<String> other = new ManualListerWatcher<>();
        new Reflector<>(one, new RecordingSink(), shared).start();
        new Reflector<>(other, new RecordingSink(), shared).start();
        one.answer(copyOf("7001"), List.of());
        other.answer(copyOf("7001"), List.of());
        assertThat(other.watch().resourceVersion).isSameAs(one.watch().resourceVersion);

        for (ManualListerWatcher<String> each : List.of(one, other)) {
            each.watch().open();
            each.watch().bookmark(copyOf("7002"));
            each.watch().end(null);
        }

        assertThat(one.watch().resourceVersion).isEqualTo("7002");
        assertThat(other.watch().resourceVersion).isSameAs(one.watch().resourceVersion);
    }

    private static String copyOf(String version) {
        return String.valueOf(version.toCharArray());
    }
}
