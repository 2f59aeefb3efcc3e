package dev.podcache.apiserver.fabric8;

import static com.google.common.util.concurrent.Uninterruptibles.awaitUninterruptibly;
import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.apiserver.fabric8.ScriptedServer.ScriptedConnection;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import io.fabric8.kubernetes.api.model.ConfigMap;
import java.time.Duration;
import java.util.Queue;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How watches end: refused, broken, closed. */
@NullUnmarked
@ExtendWith(NoLeaks.class)
class Fabric8WatchEndTest extends Fabric8WatchFixture {

    @Test
    void watch_refused_endsWithTheStatusAndRetryAfter() throws InterruptedException {
        network.answer("429 Too Many Requests\r\nRetry-After: 3", "{\"kind\":\"Status\",\"message\":\"busy\"}");
        watch();

        ApiServerException failure = ended(next());

        assertThat(failure.reason()).isEqualTo(FailureReason.THROTTLED);
        assertThat(failure.retryAfter()).isEqualTo(Duration.ofSeconds(3));
        assertThat(failure).hasMessage("WATCH configmaps in shop was answered 429: busy");
    }

    @Test
    void watch_410AsACode_isExpired() throws InterruptedException {
        network.answer("410 Gone", "");
        watch();

        assertThat(ended(next()).reason()).isEqualTo(FailureReason.EXPIRED);
    }

    @Test
    void watch_401_isUnauthorized() throws InterruptedException {
        network.answer("401 Unauthorized", "{\"kind\":\"Status\",\"message\":\"who?\"}");
        watch();

        assertThat(ended(next()).reason()).isEqualTo(FailureReason.UNAUTHORIZED);
    }

    @Test
    void watch_410AsAnEvent_isExpiredAndClosesTheConnection() throws InterruptedException {
        network.onRequest(connection -> {
            connection.write(ScriptedServer.CHUNKED);
            connection.chunk("{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410}}\n");
        });
        watch();
        next();

        assertThat(ended(next()).reason()).isEqualTo(FailureReason.EXPIRED);
        await().until(() -> network.openConnections.get() == 0);
    }

    /** The next event is in the same chunk, so that it has been received when the watch ends. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"canary\n",
                "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"message\":\"expired\"}}\n"
            })
    void watch_eventThatEndsIt_isTheLastAlsoIfMoreWasReceived(String last) throws InterruptedException {
        network.stream(event("ADDED", "1") + last + event("ADDED", "2"), 1000);
        watch();
        next();
        assertThat(text(next())).isEqualTo("1");

        assertThat(ended(next()).getMessage()).doesNotContain("canary");
        awaitEventsOnTheWay();
        assertThat(events).isEmpty();
    }

    @Test
    void watch_brokenEvent_isUnreadable() throws InterruptedException {
        network.stream(event("ADDED", "1") + "{\"canary\n", 5);
        watch();
        next();
        next();

        ApiServerException failure = ended(next());

        assertThat(failure.reason()).isEqualTo(FailureReason.UNREADABLE);
        assertThat(failure.getMessage()).doesNotContain("canary");
    }

    @Test
    void watch_answerEndingInsideAnEvent_endsWithACause() throws InterruptedException {
        network.stream("{\"type\":\"ADDED\",\"obj", 1000);
        watch();
        next();

        assertThat(ended(next()).getMessage()).endsWith("the answer ended inside an event");
    }

    @Test
    void watch_connectionCut_isUnavailable() throws Exception {
        CompletableFuture<ScriptedConnection> opened = new CompletableFuture<>();
        network.onRequest(connection -> {
            connection.write(ScriptedServer.CHUNKED);
            opened.complete(connection);
        });
        watch();
        next();
        opened.join().close();

        assertThat(ended(next()).reason()).isEqualTo(FailureReason.UNAVAILABLE);
    }

    @Test
    void watch_nobodyListening_isUnavailableAndNamesTheServer() throws InterruptedException {
        String url = network.url();
        network.close();
        watch();

        assertThat(ended(next()).getMessage()).startsWith("WATCH configmaps in shop: no connection to " + url);
    }

    @Test
    void watch_unknownHost_isUnavailable() throws InterruptedException {
        connect(config("http://nowhere.invalid:8080"));
        watch();

        assertThat(ended(next()).getMessage())
                .contains("the host name in http://nowhere.invalid:8080 could not be resolved");
    }

    @Test
    void watch_brokenTlsMaterial_endsWithACause() throws InterruptedException {
        ApiServerException failure;
        connect(config(network.url().replace("http:", "https:")).withTrustCerts(true));
        client.getConfiguration().setCaCertFile("/nowhere/ca.crt");
        client.getConfiguration().setTrustCerts(false);
        watch();
        failure = ended(next());

        assertThat(failure.reason()).isEqualTo(FailureReason.UNAVAILABLE);
    }

    @Test
    void closeOfTheHandle_openWatch_closesTheConnection() throws InterruptedException {
        network.onRequest(connection -> connection.write(ScriptedServer.CHUNKED));
        WatchHandle handle = watch();
        next();

        handle.close();
        handle.close();

        await().until(() -> network.openConnections.get() == 0);
        assertThat(events).isEmpty();
    }

    /** The other events are in the same chunk, so that they have been received when the watch is closed. */
    @Test
    void closeOfTheHandle_whileAnEventIsTold_isFollowedByNoOther() throws InterruptedException {
        network.stream(event("ADDED", "1") + event("ADDED", "2") + event("ADDED", "3"), 1000);
        HeldConsumer consumer = new HeldConsumer(event -> event instanceof WatchEvent.Upserted);
        WatchHandle handle = configMaps("").watch("1", HOUR, consumer);
        consumer.awaitHeld();

        handle.close();
        consumer.release();

        awaitEventsOnTheWay();
        assertThat(events)
                .hasSize(2)
                .last()
                .satisfies(event -> assertThat(text(event)).isEqualTo("1"));
    }

    /** Two answers in one TLS record, so that both have been received when the second watch is closed. */
    @Test
    void closeOfTheHandle_answerWasReceived_tellsNothing() throws Exception {
        BothAnswersTogether script = new BothAnswersTogether();
        try (FrameServer frames = new FrameServer(script)) {
            connect(WireFixture.config(frames.url()));
            HeldConsumer consumer = new HeldConsumer(event -> event instanceof WatchEvent.Opened);
            configMaps("metadata.name=first").watch("1", HOUR, consumer);
            Queue<WatchEvent<ConfigMap>> closed = new ConcurrentLinkedQueue<>();
            WatchHandle handle = configMaps("metadata.name=second").watch("1", HOUR, closed::add);
            consumer.awaitHeld();

            handle.close();
            consumer.release();

            await().until(() -> script.reset);
            assertThat(closed).isEmpty();
            assertThat(events).hasSize(2);
        }
    }

    /** Answers two requests together, the one about "first" first: with an open watch and one event each. */
    private static final class BothAnswersTogether implements FrameServer.FrameScript {

        private final SortedMap<String, Integer> streams = new TreeMap<>();
        private volatile boolean reset;

        @Override
        public Frames greeting(FrameServer.FrameConnection connection) {
            return new Frames().settingsWithLimit(10);
        }

        @Override
        public Frames answer(FrameServer.FrameConnection connection, int stream, String path) {
            streams.put(path, stream);
            Frames answers = new Frames();
            if (streams.size() == 2) {
                streams.values().forEach(each -> answers.headers(each).data(each, event("ADDED", "x")));
            }
            return answers;
        }

        @Override
        public void reset(FrameServer.FrameConnection connection, int stream) {
            reset = true;
        }
    }

    /** Records events, and holds up the thread that tells the first event of one sort. */
    private final class HeldConsumer implements Consumer<WatchEvent<ConfigMap>> {

        private final Predicate<WatchEvent<ConfigMap>> which;
        private final CountDownLatch held = new CountDownLatch(1);
        private final CountDownLatch released = new CountDownLatch(1);

        HeldConsumer(Predicate<WatchEvent<ConfigMap>> which) {
            this.which = which;
        }

        @Override
        public void accept(WatchEvent<ConfigMap> event) {
            events.add(event);
            if (which.test(event)) {
                held.countDown();
                awaitUninterruptibly(released);
            }
        }

        void awaitHeld() throws InterruptedException {
            assertThat(held.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
        }

        void release() {
            released.countDown();
        }
    }

    /** Waits until whatever the event loop has received so far has been told: it tells the end of another watch later. */
    private void awaitEventsOnTheWay() throws InterruptedException {
        network.answer("410 Gone", "");
        CompletableFuture<WatchEvent<ConfigMap>> other = new CompletableFuture<>();
        configMaps("").watch("1", HOUR, other::complete);
        assertThat(other).succeedsWithin(Duration.ofSeconds(Patience.SECONDS)).isInstanceOf(WatchEvent.Ended.class);
    }

    @Test
    void closeOfTheHandle_beforeAnAnswer_closesTheConnectionAndTellsNothing() {
        WatchHandle handle = watch();
        await().until(() -> network.requests.size() == 1);

        handle.close();

        await().until(() -> network.openConnections.get() == 0);
        assertThat(events).isEmpty();
    }

    @Test
    void closeOfTheServer_openWatch_endsItAndItsThreads() throws InterruptedException {
        Set<Thread> before = Thread.getAllStackTraces().keySet();
        network.onRequest(connection -> connection.write(ScriptedServer.CHUNKED));
        watch();
        next();

        server.close();

        assertThat(ended(next()).getMessage()).contains("have been closed");
        await().untilAsserted(() -> assertThat(Thread.getAllStackTraces().keySet())
                .filteredOn(thread -> thread.getName().startsWith("vert.x")
                        || thread.getName().startsWith("podcache"))
                .isSubsetOf(before));
    }

    @Test
    void watch_ofAClosedServer_endsAtOnce() throws InterruptedException {
        server.close();
        watch();

        assertThat(ended(next()).getMessage()).contains("have been closed");
    }

    @Test
    @ExpectedWarnings("the consumer of an event failed")
    void consumerThatThrows_endsTheWatch_becauseItLacksTheEvent() throws InterruptedException {
        network.stream(event("ADDED", "1") + event("ADDED", "2"), 1000);
        configMaps("").watch("1", HOUR, event -> {
            events.add(event);
            if (event instanceof WatchEvent.Upserted<ConfigMap>) {
                throw new IllegalStateException("broken consumer");
            }
        });

        next();
        assertThat(text(next())).isEqualTo("1");
        assertThat(ended(next()).getMessage()).contains("the consumer of an event failed");
    }
}
