package dev.podcache.reflector;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.FailureReason;
import dev.podcache.testing.NoLeaks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A sink that fails, what it is told, and the end of the loop, which does not wait for it. */
@ExtendWith(NoLeaks.class)
class ReflectorSinkTest extends ReflectorFixture {

    @Test
    void upsert_sinkThrows_endsTheWatchAndListsAgainAfterAPause() {
        watching();
        sink.thrown = new IllegalStateException("broken sink");
        server.watch().upsert("b", "11");
        sink.thrown = null;
        assertThat(server.watch().closed()).isTrue();
        assertThat(server.lists()).isEqualTo(1);
        time.advance(Duration.ofMillis(200));
        server.answer("12", listOf("a", "b"));

        assertThat(sink.calls)
                .containsExactly(
                        "replace [a]@10", "connected", "upsert b", "disconnected UNREADABLE", "replace [a, b]@12");
        assertThat(server.watch().resourceVersion).isEqualTo("12");
    }

    @Test
    void delete_sinkThrows_listsAgain() {
        watching();
        sink.thrown = new IllegalStateException("broken sink");
        server.watch().delete("a", "11");
        time.advance(Duration.ofMillis(200));

        assertThat(server.lists()).isEqualTo(2);
    }

    @Test
    void connected_sinkThrows_listsAgain() {
        reflector.start();
        server.answer("10", listOf("a"));
        sink.thrown = new IllegalStateException("broken sink");
        server.watch().open();
        time.advance(Duration.ofMillis(200));

        assertThat(server.lists()).isEqualTo(2);
    }

    @Test
    void replace_sinkThrows_listsAgainAfterPausesThatGrow() {
        sink.thrown = new IllegalStateException("broken sink");
        reflector.start();
        server.answer("10", listOf("a"));
        assertThat(server.watches()).isZero();
        time.advance(Duration.ofMillis(200));
        server.answer("10", listOf("a"));
        time.advance(Duration.ofMillis(399));
        assertThat(server.lists()).isEqualTo(2);
        time.advance(MILLI);

        assertThat(server.lists()).isEqualTo(3);
    }

    @Test
    void upsert_sinkThrowsAtTheSameEventAgain_pausesGrow() {
        watching();
        sink.thrown = new IllegalStateException("broken sink");
        server.watch().upsert("b", "11");
        sink.thrown = null;
        time.advance(Duration.ofMillis(200));
        server.answer("10", listOf("a"));
        server.watch().open();
        sink.thrown = new IllegalStateException("broken sink");
        server.watch().upsert("b", "11");
        time.advance(Duration.ofMillis(399));
        assertThat(server.lists()).isEqualTo(2);
        time.advance(MILLI);

        assertThat(server.lists()).isEqualTo(3);
    }

    @Test
    void disconnected_sinkThrows_doesNotStopTheLoop() {
        watching();
        sink.thrown = new IllegalStateException("broken sink");
        server.watch().end(failure(FailureReason.UNAVAILABLE, null));
        time.advance(Duration.ofMillis(200));

        assertThat(server.watches()).isEqualTo(2);
        assertThat(server.watch().resourceVersion).isEqualTo("10");
    }

    /** As with a class that is missing at run time: nobody else would notice that the loop has ended. */
    @Test
    void sinkFailsWithAnError_isListedAgain() {
        sink.during = ReflectorSinkTest::lackAClass;
        reflector.start();
        server.answer("10", listOf("a"));
        time.advance(Duration.ofMillis(200));
        assertThat(server.lists()).isEqualTo(2);

        sink.during = () -> {};
        server.answer("10", listOf("a"));
        server.watch().open();
        sink.during = ReflectorSinkTest::lackAClass;
        server.watch().end(failure(FailureReason.UNAVAILABLE, null));
        time.advance(Duration.ofSeconds(1));

        assertThat(server.watches()).isEqualTo(2);
    }

    private static void lackAClass() {
        throw new NoClassDefFoundError("com/example/Meter");
    }

    @Test
    void close_whileWatching_closesTheWatchAndIgnoresWhatFollows() {
        watching();
        reflector.close();
        reflector.close();
        server.watch().upsert("b", "11");
        server.watch().end(null);
        time.advance(Duration.ofHours(2));

        assertThat(server.watch().closed()).isTrue();
        assertThat(sink.calls).containsExactly("replace [a]@10", "connected");
        assertThat(server.watches()).isEqualTo(1);
        assertThat(time.scheduledTasks()).isZero();
    }

    @Test
    void close_whileListing_ignoresTheAnswer() {
        reflector.start();
        reflector.close();
        server.answer("10", List.of());

        assertThat(sink.calls).isEmpty();
        assertThat(server.watches()).isZero();
    }

    @Test
    void close_duringAPause_endsIt() {
        reflector.start();
        server.fail(failure(FailureReason.UNAVAILABLE, null));
        reflector.close();
        time.advance(Duration.ofMinutes(1));

        assertThat(server.lists()).isEqualTo(1);
    }

    @Test
    void start_afterClose_doesNothing() {
        reflector.close();
        reflector.start();

        assertThat(server.lists()).isZero();
    }

    @Test
    void close_fromTheSink_returnsAndEndsTheLoop() {
        watching();
        sink.during = reflector::close;
        server.watch().upsert("b", "11");
        server.watch().upsert("c", "12");

        assertThat(sink.calls).endsWith("upsert b");
        assertThat(server.watch().closed()).isTrue();
    }

    /** The caller may hold a lock that the sink waits for. */
    @Test
    void close_whileTheSinkRunsElsewhere_returnsAtOnce_andNoOtherCallBegins() throws InterruptedException {
        watching();
        HeldSink held = holdTheSink();

        reflector.close();
        assertThat(server.watch().closed()).isTrue();
        server.watch().upsert("c", "12");
        held.letGo();

        assertThat(sink.calls).endsWith("upsert b");
        assertThat(time.scheduledTasks()).isZero();
    }

    @Test
    void close_whileTheSinkRunsElsewhereAndThenThrows_isNoFailure(NoLeaks leaks) throws InterruptedException {
        watching();
        HeldSink held = holdTheSink();
        reflector.close();
        sink.thrown = new IllegalStateException("closed, too");
        held.letGo();

        assertThat(sink.calls).endsWith("upsert b");
        assertThat(leaks.warnings()).isEmpty();
    }

    @Test
    void close_ofAnInterruptedThreadWhileTheSinkRunsElsewhere_leavesTheStatus() throws InterruptedException {
        watching();
        HeldSink held = holdTheSink();

        Thread.currentThread().interrupt();
        reflector.close();
        boolean interrupted = Thread.interrupted();
        held.letGo();

        assertThat(interrupted).isTrue();
    }

    /** A call of the sink that does not return yet, on a thread of its own. */
    private record HeldSink(Thread caller, CountDownLatch goOn) {

        void letGo() throws InterruptedException {
            goOn.countDown();
            caller.join();
        }
    }

    private HeldSink holdTheSink() throws InterruptedException {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        sink.during = () -> {
            inside.countDown();
            try {
                goOn.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        };
        Thread eventLoop = new Thread(() -> server.watch().upsert("b", "11"));
        eventLoop.start();
        inside.await();
        return new HeldSink(eventLoop, goOn);
    }

    @Test
    void listing_comesBeforeEachRequest_alsoBeforeARepeatedOne() {
        List<Integer> listsBefore = new ArrayList<>();
        sink.atListing = () -> listsBefore.add(server.lists());
        reflector.start();
        server.fail(failure(FailureReason.UNAVAILABLE, null));
        time.advance(Duration.ofMillis(200));
        assertThat(server.lists()).isEqualTo(2);
        server.answer("10", listOf("a"));
        server.watch().open();

        assertThat(listsBefore).containsExactly(0, 1);
    }

    @Test
    void listing_comesBeforeTheListThatConfirms() {
        Reflector<String> confirming = Reflector.confirming(server, sink, new Recovery(time, () -> 0.0));
        confirming.start();
        server.answer("10", listOf("a"));
        server.watch().open();
        sink.atListing = () -> sink.calls.add("listing " + server.lists());
        server.watch().end(failure(FailureReason.UNAVAILABLE, null));
        time.advance(Duration.ofMillis(200));
        server.watch().open();
        assertThat(sink.calls).doesNotContain("listing 1");
        time.advance(Duration.ofSeconds(2));
        assertThat(server.lists()).isEqualTo(2);
        server.answer("10", listOf("a"));

        assertThat(sink.calls).endsWith("listing 1", "replace [a]@10", "connected");
        confirming.close();
    }

    @Test
    void listing_sinkThrows_isAFailedAttemptWithoutARequest() {
        sink.atListing = () -> {
            throw new IllegalStateException("broken sink");
        };
        reflector.start();
        assertThat(server.lists()).isZero();
        assertThat(sink.calls).containsExactly("disconnected UNREADABLE");
        sink.atListing = () -> {};
        time.advance(Duration.ofMillis(200));

        assertThat(server.lists()).isEqualTo(1);
    }
}
