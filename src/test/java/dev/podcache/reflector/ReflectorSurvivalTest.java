package dev.podcache.reflector;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.collect.ImmutableList;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.object.FailureReason;
import dev.podcache.reflector.ReflectorFixture.RecordingSink;
import dev.podcache.testing.ManualListerWatcher;
import dev.podcache.testing.ManualListerWatcher.ManualWatch;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RefusingTimers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Ports and timers must not throw. If one does all the same, the attempt has failed, and is repeated like any other. */
@ExtendWith(NoLeaks.class)
class ReflectorSurvivalTest {

    private static final Duration RETRIED_WITHIN = Duration.ofMillis(200);

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final RefusingTimers timers = new RefusingTimers(time);
    private final Throwing server = new Throwing();
    private final RecordingSink sink = new RecordingSink();
    private final Recovery recovery = new Recovery(timers, () -> 0.0);
    private final Reflector<String> reflector = new Reflector<>(server, sink, recovery);

    /** Throws at once where it should return, as often as requested. */
    private static final class Throwing implements ListerWatcher<String> {

        private final ManualListerWatcher<String> real = new ManualListerWatcher<>();
        private int times;
        private boolean closeThrows;
        private boolean nameThrows;

        @Override
        public CompletableFuture<Listed<String>> list(Duration timeout) {
            throwIfRequested();
            return real.list(timeout);
        }

        @Override
        public WatchHandle watch(String version, Duration serverTimeout, Consumer<WatchEvent<String>> events) {
            throwIfRequested();
            WatchHandle watch = real.watch(version, serverTimeout, events);
            return () -> {
                if (closeThrows) {
                    throw new IllegalStateException("thrown by the test");
                }
                watch.close();
            };
        }

        private void throwIfRequested() {
            if (times > 0) {
                times--;
                throw new OutOfMemoryError("unable to create native thread");
            }
        }

        @Override
        public String toString() {
            if (nameThrows) {
                throw new OutOfMemoryError("no room for a name");
            }
            return "things";
        }
    }

    @AfterEach
    void close() {
        reflector.close();
        assertThat(time.scheduledTasks()).isZero();
    }

    @Test
    void list_throws_isAFailedAttemptThatIsRepeated() {
        server.times = 2;
        reflector.start();
        time.advance(RETRIED_WITHIN);
        time.advance(RETRIED_WITHIN.multipliedBy(2));
        server.real.answer("5", List.of());

        assertThat(sink.calls).containsExactly("disconnected UNAVAILABLE", "disconnected UNAVAILABLE", "replace []@5");
        assertThat(server.real.watches()).isEqualTo(1);
    }

    @Test
    void watch_throws_isAFailedAttemptThatIsRepeatedFromTheSameVersion() {
        reflector.start();
        server.times = 1;
        server.real.answer("5", ImmutableList.of());
        assertThat(sink.calls).containsExactly("replace []@5", "disconnected UNAVAILABLE");

        time.advance(RETRIED_WITHIN);
        server.real.watch().open();

        assertThat(server.real.watch().resourceVersion).isEqualTo("5");
        assertThat(sink.calls).last().isEqualTo("connected");
    }

    /** The check of silent watches is shared by all reflectors of a server. */
    @Test
    void closeOfASilentWatch_throws_thoseOfOthersAreGivenUpAllTheSame(NoLeaks leaks) {
        leaks.allowWarnings("things: a step threw; this is a bug in Podcache");
        ManualListerWatcher<String> next = new ManualListerWatcher<>();
        Reflector<String> another = new Reflector<>(next, new RecordingSink(), recovery);
        reflector.start();
        another.start();
        for (ManualListerWatcher<String> each : List.of(server.real, next)) {
            each.answer("5", List.of());
            each.watch().open();
            each.watch().bookmark("6");
        }
        server.closeThrows = true;

        time.advance(Duration.ofSeconds(90));

        assertThat(next.watch().closed()).isTrue();
        assertThat(sink.calls).contains("disconnected UNAVAILABLE");
        server.closeThrows = false;
        time.advance(RETRIED_WITHIN);
        ManualWatch<String> later = next.watch();
        later.open();
        later.bookmark("7");
        time.advance(Duration.ofSeconds(100));
        assertThat(later.closed()).as("by a later sweep").isTrue();
        another.close();
    }

    /** As where memory is missing. What the sink lacks must not stay unnoticed. */
    @Test
    void step_throwsAndSoDoesItsReport_isMadeUpForByTheNextStep(NoLeaks leaks) {
        leaks.allowWarnings("the sink threw; retrying");
        leaks.allowWarnings("a step threw; this is a bug in Podcache");
        watching();
        sink.thrown = new IllegalStateException("broken sink");
        server.nameThrows = true;
        server.real.watch().upsert("b", "11");
        assertThat(server.real.watch().closed()).isFalse();

        sink.thrown = null;
        server.nameThrows = false;
        server.real.watch().upsert("c", "12");
        assertThat(server.real.watch().closed()).isTrue();
        assertThat(sink.calls).last().isEqualTo("disconnected UNAVAILABLE");
        time.advance(RETRIED_WITHIN);

        assertThat(server.real.lists()).isEqualTo(2);
    }

    @Test
    void step_throwsAndSoDoesItsReportAndNothingFollows_isMadeUpForWithinTenSeconds(NoLeaks leaks) {
        leaks.allowWarnings("a step threw; this is a bug in Podcache");
        reflector.start();
        server.nameThrows = true;
        server.times = 1;
        server.real.answer("5", List.of());
        assertThat(server.real.watches()).isZero();

        server.nameThrows = false;
        time.advance(Duration.ofSeconds(10));
        time.advance(RETRIED_WITHIN);

        assertThat(server.real.lists()).isEqualTo(2);
    }

    @Test
    void closeOfTheWatch_throws_reflectorIsClosedAllTheSame() {
        watching();
        server.closeThrows = true;

        assertThatThrownBy(reflector::close).hasMessage("thrown by the test");
        assertThat(time.scheduledTasks()).isZero();
        server.real.watch().upsert("b", "11");
        assertThat(sink.calls).doesNotContain("upsert b");
    }

    @Test
    void timer_throws_theAttemptIsRepeatedInTime(NoLeaks leaks) {
        leaks.allowWarnings("a timer could not be set; setting it again");
        reflector.start();
        timers.refusals = 1;
        server.real.fail(ReflectorFixture.failure(FailureReason.UNAVAILABLE, null));
        time.advance(RETRIED_WITHIN);

        assertThat(server.real.lists()).isEqualTo(2);
    }

    @Test
    void timer_throwsAgainAndAgain_isSetByTheNextCallOfAnyReflector(NoLeaks leaks) {
        leaks.allowWarnings("a timer could not be set; setting it again");
        leaks.allowWarnings("things: a step threw; this is a bug in Podcache");
        reflector.start();
        timers.refusals = 4;
        server.real.fail(ReflectorFixture.failure(FailureReason.UNAVAILABLE, null));
        time.advance(Duration.ofMinutes(1));
        assertThat(server.real.lists()).isEqualTo(1);

        Reflector<String> another = new Reflector<>(new ManualListerWatcher<>(), new RecordingSink(), recovery);
        another.start();
        time.advance(Duration.ofSeconds(2));

        assertThat(server.real.lists()).isEqualTo(2);
        another.close();
    }

    @Test
    void timerOfTheSweep_throws_laterSweepsNoticeASilentWatch(NoLeaks leaks) {
        leaks.allowWarnings("a timer could not be set; setting it again");
        watching();
        server.real.watch().bookmark("6");
        timers.refusals = 1;
        time.advance(Duration.ofSeconds(90));

        assertThat(timers.refusals).isZero();
        assertThat(server.real.watch().closed()).isTrue();
    }

    @Test
    void timerOfAStreamedList_throws_isAFailedAttempt(NoLeaks leaks) {
        leaks.allowWarnings("things: a step threw; this is a bug in Podcache");
        ManualListerWatcher<String> streams = new ManualListerWatcher<>();
        streams.setStreams(true);
        Reflector<String> streamed = new Reflector<>(streams, sink, recovery);
        timers.refusals = 1;
        streamed.start();
        assertThat(streams.watch().closed()).isTrue();
        assertThat(sink.calls).containsExactly("disconnected UNAVAILABLE");
        time.advance(RETRIED_WITHIN);

        assertThat(streams.watches()).isEqualTo(2);
        streamed.close();
    }

    private void watching() {
        reflector.start();
        server.real.answer("5", List.of());
        server.real.watch().open();
    }
}
