package dev.podcache.reflector;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.ManualListerWatcher;
import dev.podcache.testing.ManualListerWatcher.ManualWatch;
import dev.podcache.testing.NoLeaks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A server that lists and watches with one request, event by event. */
@ExtendWith(NoLeaks.class)
class StreamedListTest extends ReflectorFixture {

    private static final Duration LIST_END_TIMEOUT = Duration.ofSeconds(3);
    private static final Duration RETRY_AFTER = Duration.ofSeconds(2);

    @BeforeEach
    void stream() {
        server.setStreams(true);
        reflector.start();
    }

    @Test
    void list_untilItsEnd_isKeptBack() {
        server.watch().open();
        server.watch().upsert("a", "9");

        assertThat(sink.calls).isEmpty();
        server.watch().endList("10");

        assertThat(sink.calls).containsExactly("replace [a]@10", "connected");
        assertThat(server.lists()).isZero();
        assertThat(server.watch().resourceVersion).isEqualTo("streamed");
    }

    @Test
    void list_ofNothing_isAbsence() {
        server.watch().open();
        server.watch().endList("10");

        assertThat(sink.calls).containsExactly("replace []@10", "connected");
    }

    @Test
    void list_changesMeanwhile_areInIt() {
        server.watch().open();
        server.watch().upsert("a", "9");
        server.watch().delete("a", "10");
        server.watch().upsert("b", "11");
        server.watch().upsert("c", "12");
        server.watch().upsert("b", "13");
        server.watch().bookmark("13");
        server.watch().endList("14");

        assertThat(sink.calls).containsExactly("replace [b, c]@14", "connected");
    }

    @Test
    void watch_afterTheList_tellsWhatFollowsAndIsResumedFromIt() {
        listed();
        server.watch().upsert("b", "11");
        server.watch().delete("b", "12");
        server.watch().end(null);

        assertThat(sink.calls).containsExactly("replace []@10", "connected", "upsert b", "delete b");
        assertThat(server.watch().resourceVersion).isEqualTo("12");
    }

    @Test
    void watch_brokenWithoutEvents_isResumedFromTheEndOfTheList() {
        listed();
        server.watch().end(failure(FailureReason.UNAVAILABLE, null));
        time.advance(Duration.ofMillis(200));

        assertThat(server.watch().resourceVersion).isEqualTo("10");
        assertThat(server.lists()).isZero();
    }

    @Test
    void watch_expired_isStreamedAgainAtOnce() {
        listed();
        server.watch().end(failure(FailureReason.EXPIRED, null));

        assertThat(server.watch().resourceVersion).isEqualTo("streamed");
        assertThat(server.watches()).isEqualTo(2);
    }

    @Test
    void watch_expiredAgainAfterAStreamedList_isPaused() {
        listed();
        server.watch().end(failure(FailureReason.EXPIRED, null));
        listed();
        server.watch().end(failure(FailureReason.EXPIRED, null));

        assertThat(server.watches()).isEqualTo(2);
    }

    @Test
    void watch_afterTheList_isGivenUpWhenItsTimeIsOver() {
        listed();
        ManualWatch<String> overdue = server.watch();
        time.advance(Duration.ofMinutes(29));
        assertThat(overdue.closed()).isFalse();
        time.advance(Duration.ofMinutes(2));

        assertThat(overdue.closed()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"REJECTED, 422", "REJECTED, 400", "TIMEOUT, 504"})
    void refused_isListedAtOnceAndReported(FailureReason reason, int code) {
        server.watch().end(new ApiServerException(reason, code, null, "answered " + code, null));

        assertThat(server.lists()).isEqualTo(1);
        assertThat(server.refusals()).hasSize(1);
        server.answer("10", listOf("a"));
        server.watch().open();
        assertThat(server.watch().resourceVersion).isEqualTo("10");
        assertThat(sink.calls).containsExactly("replace [a]@10", "connected");
    }

    @Test
    void forbidden_isListedAtOnceButNotReported() {
        server.watch().end(new ApiServerException(FailureReason.FORBIDDEN, 403, null, "answered 403", null));

        assertThat(server.lists()).isEqualTo(1);
        assertThat(server.refusals()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"UNAVAILABLE, 0", "UNAVAILABLE, 503", "UNREADABLE, 0", "NOT_FOUND, 404"})
    void failed_isListedAfterAPauseAndStreamedTheNextTime(FailureReason reason, int code) {
        server.watch().open();
        server.watch().upsert("a", "9");
        server.watch().end(new ApiServerException(reason, code, null, "failed", null));
        assertThat(server.lists()).isZero();
        time.advance(Duration.ofMillis(200));

        assertThat(server.lists()).isEqualTo(1);
        assertThat(server.refusals()).isEmpty();
        assertThat(sink.calls).containsExactly("disconnected " + reason);
        server.fail(failure(FailureReason.UNAVAILABLE, null));
        time.advance(Duration.ofMillis(400));
        assertThat(server.lists()).isEqualTo(1);
        assertThat(server.watch().resourceVersion).isEqualTo("streamed");
    }

    @Test
    void throttledOnce_isStreamedAgainAfterThePauseThatTheServerAsksFor() {
        throttle();
        time.advance(RETRY_AFTER.minus(MILLI));
        assertThat(server.watches()).isEqualTo(1);
        time.advance(MILLI);
        assertThat(server.watches()).isEqualTo(2);
        listed();

        assertThat(server.lists()).isZero();
        assertThat(server.refusals()).isEmpty();
        assertThat(sink.calls).containsExactly("disconnected THROTTLED", "replace []@10", "connected");
    }

    @Test
    void throttledTwice_isListedAfterThePauseThatTheServerAsksFor_andStreamedTheNextTime() {
        throttle();
        time.advance(RETRY_AFTER);
        throttle();
        time.advance(RETRY_AFTER.minus(MILLI));
        assertThat(server.lists()).isZero();
        time.advance(MILLI);
        assertThat(server.lists()).isEqualTo(1);
        server.answer("10", listOf("a"));
        server.watch().open();
        server.watch().end(failure(FailureReason.EXPIRED, null));

        assertThat(server.watch().resourceVersion).isEqualTo("streamed");
        assertThat(server.refusals()).isEmpty();
        throttle();
        time.advance(RETRY_AFTER);
        assertThat(server.lists()).as("the count begins anew").isEqualTo(1);
    }

    @Test
    void throttledTwice_notInARow_isStreamedAgain() {
        throttle();
        time.advance(RETRY_AFTER);
        listed();
        server.watch().end(failure(FailureReason.EXPIRED, null));
        throttle();
        time.advance(RETRY_AFTER);

        assertThat(server.watch().resourceVersion).isEqualTo("streamed");
        assertThat(server.lists()).isZero();
    }

    /** The verb watch suffices for a streamed list. */
    @Test
    void throttledTwiceAndThePlainListForbidden_isStreamedAgainAfterThePause_andNoRefusal() {
        throttle();
        time.advance(RETRY_AFTER);
        throttle();
        time.advance(RETRY_AFTER);
        server.fail(new ApiServerException(FailureReason.FORBIDDEN, 403, null, "answered 403", null));
        time.advance(RETRY_AFTER.minus(MILLI));
        assertThat(server.watches()).isEqualTo(2);
        time.advance(MILLI);
        assertThat(server.watch().resourceVersion).isEqualTo("streamed");
        assertThat(server.watches()).isEqualTo(3);
        listed();

        assertThat(server.lists()).isEqualTo(1);
        assertThat(sink.calls)
                .containsExactly(
                        "disconnected THROTTLED",
                        "disconnected THROTTLED",
                        "disconnected THROTTLED",
                        "replace []@10",
                        "connected");
    }

    @Test
    void throttledTwiceAndThePlainListFails_saysWhyAndIsStreamedAgain() {
        throttle();
        time.advance(RETRY_AFTER);
        throttle();
        time.advance(RETRY_AFTER);
        server.fail(new ApiServerException(FailureReason.UNAVAILABLE, 503, null, "answered 503", null));
        assertThat(sink.calls).last().isEqualTo("disconnected UNAVAILABLE");
        time.advance(Duration.ofSeconds(1));

        assertThat(server.watch().resourceVersion).isEqualTo("streamed");
        assertThat(server.watches()).isEqualTo(3);
    }

    /** Otherwise each of hundreds would first spend its own streamed lists on a server that answers one at a time. */
    @Test
    void throttledForMany_theOneThatTriesListsPlainly() {
        Recovery recovery = new Recovery(time, () -> 0.0);
        List<ManualListerWatcher<String>> servers = new ArrayList<>();
        List<Reflector<String>> reflectors = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            ManualListerWatcher<String> each = new ManualListerWatcher<>();
            each.setStreams(true);
            servers.add(each);
            reflectors.add(new Reflector<>(each, new RecordingSink(), recovery));
        }
        reflectors.forEach(Reflector::start);
        servers.forEach(each -> each.watch().end(throttled()));
        time.advance(RETRY_AFTER);

        assertThat(servers).extracting(ManualListerWatcher::watches).containsOnly(1);
        List<ManualListerWatcher<String>> trying =
                servers.stream().filter(each -> each.lists() > 0).toList();
        assertThat(trying).hasSize(1);
        trying.get(0).answer("10", List.of());
        time.advance(Duration.ofSeconds(2));
        assertThat(servers)
                .as("the server serves again")
                .allSatisfy(each -> assertThat(each.watches()).isEqualTo(2));
        reflectors.forEach(Reflector::close);
    }

    @Test
    void listing_comesBeforeTheRequest_andAgainBeforeThePlainListThatFollowsARefusal() {
        reflector.close();
        List<String> before = new ArrayList<>();
        sink.atListing = () -> before.add(server.watches() + " watches, " + server.lists() + " lists");
        Reflector<String> another = new Reflector<>(server, sink, new Recovery(time, () -> 0.0));
        another.start();
        server.watch().end(new ApiServerException(FailureReason.REJECTED, 422, null, "answered 422", null));

        assertThat(before).containsExactly("1 watches, 0 lists", "2 watches, 0 lists");
        assertThat(server.lists()).isEqualTo(1);
        another.close();
    }

    /** The timer of the opening may have fired when the opening is handled. */
    @Test
    void opened_justBeforeItsTimeIsOver_waitsForTheEndOfTheList() {
        time.advance(Duration.ofSeconds(30).minusNanos(1));
        server.watch().open();
        time.advance(Duration.ofSeconds(1));
        server.watch().endList("10");

        assertThat(sink.calls).containsExactly("replace []@10", "connected");
    }

    @Test
    void watch_afterTheList_countsItsTimeFromTheEndOfTheList() {
        time.advance(Duration.ofSeconds(29));
        server.watch().open();
        time.advance(Duration.ofSeconds(2));
        server.watch().endList("10");
        ManualWatch<String> watch = server.watch();
        time.advance(Duration.ofMinutes(30).plusSeconds(29));
        assertThat(watch.closed()).isFalse();
        time.advance(Duration.ofSeconds(11));

        assertThat(watch.closed()).isTrue();
    }

    @Test
    void endOfTheList_missing_isListedAtOnceAndReported() {
        server.watch().open();
        server.watch().upsert("a", "9");
        ManualWatch<String> endless = server.watch();
        time.advance(LIST_END_TIMEOUT.minus(MILLI));
        assertThat(endless.closed()).isFalse();
        time.advance(MILLI);

        assertThat(endless.closed()).isTrue();
        assertThat(server.lists()).isEqualTo(1);
        assertThat(server.refusals()).hasSize(1);
        endless.endList("10");
        endless.end(null);
        assertThat(sink.calls).isEmpty();
    }

    @Test
    void endOfTheList_watchEndsBefore_isListedAtOnceAndReported() {
        server.watch().open();
        server.watch().end(null);

        assertThat(server.lists()).isEqualTo(1);
        assertThat(server.refusals()).hasSize(1);
        assertThat(sink.calls).isEmpty();
    }

    @Test
    void notAnswered_isAFailureAfter30Seconds() {
        time.advance(Duration.ofSeconds(30));

        assertThat(server.watch().closed()).isTrue();
        assertThat(server.refusals()).isEmpty();
        assertThat(sink.calls).containsExactly("disconnected TIMEOUT");
    }

    @Test
    void close_beforeTheEndOfTheList_tellsNothing() {
        server.watch().open();
        server.watch().upsert("a", "9");
        reflector.close();

        assertThat(server.watch().closed()).isTrue();
        server.watch().endList("10");
        assertThat(sink.calls).isEmpty();
        assertThat(time.scheduledTasks()).isZero();
    }

    @Test
    void sink_throwsAtTheList_isStreamedAgain() {
        sink.thrown = new IllegalStateException("no");
        server.watch().open();
        server.watch().endList("10");
        sink.thrown = null;
        time.advance(Duration.ofMillis(200));

        assertThat(server.watches()).isEqualTo(2);
        listed();
        assertThat(sink.calls)
                .isEqualTo(List.of("replace []@10", "disconnected UNREADABLE", "replace []@10", "connected"));
    }

    private void throttle() {
        server.watch().end(throttled());
    }

    private static ApiServerException throttled() {
        return new ApiServerException(FailureReason.THROTTLED, 429, RETRY_AFTER, "answered 429", null);
    }

    private void listed() {
        server.watch().open();
        server.watch().endList("10");
    }
}
