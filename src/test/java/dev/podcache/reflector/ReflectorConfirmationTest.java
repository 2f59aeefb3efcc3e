package dev.podcache.reflector;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.NoLeaks;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A watch that is open again after a failure: what confirms what the sink knows, and in which order. */
@ExtendWith(NoLeaks.class)
class ReflectorConfirmationTest extends ReflectorFixture {

    private static final Duration LISTED_WITHIN = Duration.ofSeconds(2);

    private final Reflector<String> confirming = Reflector.confirming(server, sink, new Recovery(time, () -> 0.0));

    @BeforeEach
    void reopen() {
        confirming.start();
        server.answer("10", listOf("a"));
        server.watch().open();
        server.watch().end(failure(FailureReason.UNAVAILABLE, null));
        time.advance(Duration.ofMillis(200));
        server.watch().open();
        assertThat(server.watch().resourceVersion).isEqualTo("10");
        assertThat(sink.calls).endsWith("disconnected UNAVAILABLE");
        sink.calls.clear();
    }

    @AfterEach
    void close() {
        confirming.close();
        assertThat(time.scheduledTasks()).isZero();
    }

    /** It may be the first of many that happened while there was no watch. */
    @Test
    void event_beforeTheList_doesNotConfirm() {
        server.watch().upsert("b", "11");
        assertThat(sink.calls).containsExactly("upsert b");
        time.advance(LISTED_WITHIN);
        server.answer("20", listOf("c"));

        assertThat(sink.calls).containsExactly("upsert b", "replace [c]@20", "connected");
    }

    @Test
    void bookmark_beforeTheList_confirms_andNoListFollows() {
        server.watch().upsert("b", "11");
        server.watch().bookmark("12");
        time.advance(LISTED_WITHIN);

        assertThat(sink.calls).containsExactly("upsert b", "connected");
        assertThat(server.lists()).isEqualTo(1);
    }

    @Test
    void bookmark_whileListing_confirms_andTheAnswerIsIgnored() {
        time.advance(LISTED_WITHIN);
        server.watch().bookmark("11");
        server.answer("11", listOf("b"));

        assertThat(sink.calls).containsExactly("connected");
    }

    @Test
    void list_isInTheSink_andEventsThatItCoversAreNot() {
        time.advance(LISTED_WITHIN);
        server.answer("20", listOf("b"));
        server.watch().upsert("a", "15");
        server.watch().delete("b", "20");
        server.watch().upsert("c", "21");

        assertThat(sink.calls).containsExactly("replace [b]@20", "connected", "upsert c");
        server.watch().end(null);
        assertThat(server.watch().resourceVersion).isEqualTo("21");
    }

    @Test
    void list_whoseWatchEndsWithoutAnEvent_isWatchedFrom() {
        time.advance(LISTED_WITHIN);
        server.answer("20", listOf("b"));
        time.advance(Duration.ofSeconds(1));
        server.watch().end(null);

        assertThat(server.watch().resourceVersion).isEqualTo("20");
    }

    /** The storage was restored from a backup. */
    @Test
    void list_olderThanWhatTheSinkHas_isListedAgain() {
        time.advance(LISTED_WITHIN);
        server.answer("9", listOf("b"));

        assertThat(sink.calls).containsExactly("disconnected EXPIRED");
        assertThat(server.lists()).isEqualTo(3);
        server.answer("9", listOf("b"));
        assertThat(sink.calls).endsWith("replace [b]@9");
    }

    /** Since Kubernetes 1.34, the verb watch alone allows to stream a list. */
    @Test
    void list_refused_isStreamedWhereTheServerDoesThat() {
        server.setStreams(true);
        time.advance(LISTED_WITHIN);
        server.fail(failure(FailureReason.FORBIDDEN, null));
        assertThat(sink.calls).containsExactly("disconnected FORBIDDEN");
        time.advance(Duration.ofMillis(400));
        assertThat(server.watch().resourceVersion).isEqualTo("streamed");
        assertThat(server.openWatches()).isOne();
        server.watch().open();
        server.watch().upsert("b", "19");
        server.watch().endList("20");

        assertThat(sink.calls).containsExactly("disconnected FORBIDDEN", "replace [b]@20", "connected");
    }

    @Test
    void list_refused_isRepeatedWhereTheServerStreamsNone() {
        time.advance(LISTED_WITHIN);
        server.fail(failure(FailureReason.FORBIDDEN, null));
        time.advance(Duration.ofMillis(400));
        assertThat(server.lists()).isEqualTo(3);
        server.watch().upsert("b", "19");
        server.answer("20", listOf("b"));

        assertThat(sink.calls).containsExactly("disconnected FORBIDDEN", "upsert b", "replace [b]@20", "connected");
    }

    @Test
    void list_failed_isReportedAndRepeatedAfterThePauseThatTheServerAsksFor() {
        time.advance(LISTED_WITHIN);
        server.fail(new ApiServerException(FailureReason.THROTTLED, 429, Duration.ofSeconds(5), "answered 429", null));
        assertThat(sink.calls).containsExactly("disconnected THROTTLED");
        time.advance(Duration.ofSeconds(5).minus(MILLI));
        assertThat(server.lists()).isEqualTo(2);
        time.advance(MILLI);
        server.answer("20", listOf("b"));

        assertThat(sink.calls).endsWith("replace [b]@20", "connected");
        assertThat(server.watches()).as("the watch stays open").isEqualTo(2);
    }

    @Test
    void list_failedAfterABookmark_isNoFailure() {
        time.advance(LISTED_WITHIN);
        server.watch().upsert("b", "11");
        server.watch().bookmark("12");
        server.fail(failure(FailureReason.UNAVAILABLE, null));

        assertThat(sink.calls).containsExactly("upsert b", "connected");
    }

    @Test
    void watch_endedInGoodOrderWhileListing_isResumedByAnother_andTheAnswerIgnored() {
        time.advance(LISTED_WITHIN);
        server.watch().end(null);
        server.watch().open();
        assertThat(sink.calls).isEmpty();
        server.answer("20", listOf("b"));

        assertThat(sink.calls).isEmpty();
        time.advance(LISTED_WITHIN);
        assertThat(server.lists()).isEqualTo(3);
        server.answer("21", List.of());
        assertThat(sink.calls).containsExactly("replace []@21", "connected");
    }

    @Test
    void close_beforeTheList_isTheEnd() {
        confirming.close();
        time.advance(LISTED_WITHIN);

        assertThat(server.lists()).isEqualTo(1);
    }
}
