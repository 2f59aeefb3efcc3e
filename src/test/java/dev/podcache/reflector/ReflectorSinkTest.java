package dev.podcache.reflector;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.FailureReason;
import dev.podcache.testing.NoLeaks;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A sink that fails, and the end of the loop, which waits for the sink. */
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

    @Test
    void close_whileTheSinkRunsElsewhere_returnsAfterIt() throws InterruptedException {
        watching();
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        AtomicReference<String> last = new AtomicReference<>("");
        sink.during = () -> {
            inside.countDown();
            try {
                goOn.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            last.set("sink returned");
        };
        Thread eventLoop = new Thread(() -> server.watch().upsert("b", "11"));
        eventLoop.start();
        inside.await();
        Thread closer = new Thread(() -> {
            reflector.close();
            last.updateAndGet(before -> before + ", closed");
        });
        closer.start();
        time.awaitWaiters(1);

        goOn.countDown();
        closer.join();
        eventLoop.join();

        assertThat(last.get()).isEqualTo("sink returned, closed");
    }

    @Test
    void close_interruptedWhileItWaitsForTheSink_returnsWithTheStatusSet() throws InterruptedException {
        watching();
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

        Thread.currentThread().interrupt();
        reflector.close();
        boolean interrupted = Thread.interrupted();
        goOn.countDown();
        eventLoop.join();

        assertThat(interrupted).isTrue();
    }
}
