package dev.podcache.reflector;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.ManualListerWatcher.ManualWatch;
import dev.podcache.testing.NoLeaks;
import java.time.Duration;
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
    @CsvSource({"UNAVAILABLE, 0", "UNAVAILABLE, 503", "THROTTLED, 429", "UNREADABLE, 0", "NOT_FOUND, 404"})
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

    private void listed() {
        server.watch().open();
        server.watch().endList("10");
    }
}
