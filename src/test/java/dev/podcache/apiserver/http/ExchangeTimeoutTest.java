package dev.podcache.apiserver.http;

import static dev.podcache.testing.Patience.await;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.ForwardingTimekeeper;
import dev.podcache.testing.ManualTimers;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import dev.podcache.testing.TcpProxy;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Every request ends, and is then forgotten, whatever it waits for and whenever its timer fires. */
@NullUnmarked
@ExtendWith(NoLeaks.class)
class ExchangeTimeoutTest {

    private static final Duration HOUR = Duration.ofHours(1);

    private final ManualTimers time = new ManualTimers();
    private final StreamServer server = StreamServer.withLimit(5);
    private final TcpProxy proxy = TcpProxy.to(server.port());
    private ApiConnections connections;

    @AfterEach
    void tearDown() {
        connections.close();
        proxy.close();
        server.close();
        time.close();
    }

    @Test
    void timeout_beforeItIsSent_theRequestIsForgotten() throws Exception {
        connect("127.0.0.1", time);

        WeakReference<ServerRequest> request = timedOutBeforeItIsSent();

        await().until(() -> {
            System.gc();
            return request.get() == null;
        });
    }

    private WeakReference<ServerRequest> timedOutBeforeItIsSent() throws Exception {
        ServerRequest request = ServerRequest.get("GET /late", "/late");
        CompletableFuture<Integer> answer =
                connections.send(Duration.ofSeconds(5), request, Duration.ofSeconds(3), 1000, body -> body.length);
        time.advance(Duration.ofSeconds(3));
        assertThat(failureOf(answer).reason()).isEqualTo(FailureReason.TIMEOUT);
        time.advance(Duration.ofSeconds(2));
        assertThat(server.arrived).isEmpty();
        return new WeakReference<>(request);
    }

    /** Fires the timers of one delay, on a thread of their own, before the call that schedules them returns. */
    private static final class EarlyTimers extends ForwardingTimekeeper {

        static final Duration EARLY = Duration.ofSeconds(7);

        EarlyTimers(Timekeeper time) {
            super(time);
        }

        @Override
        public Scheduled schedule(Duration delay, Runnable task) {
            if (delay.equals(EARLY)) {
                CompletableFuture.runAsync(task, NewThread.EACH)
                        .handle((done, thrown) -> "")
                        .join();
                return () -> {};
            }
            return super.schedule(delay, task);
        }
    }

    @Test
    void timer_thatFiresBeforeItIsKnown_endsTheRequest() throws Exception {
        connect("127.0.0.1", new EarlyTimers(time));

        CompletableFuture<Integer> answer = connections.send(
                Duration.ZERO, ServerRequest.get("GET /x", "/x"), EarlyTimers.EARLY, 1000, body -> body.length);

        assertThat(failureOf(answer).reason()).isEqualTo(FailureReason.TIMEOUT);
        assertThat(failureOf(answer)).hasMessageContaining("within 7s");
    }

    @Test
    void close_whileARequestWaitsForTheLimit_failsItAtOnce() throws Exception {
        connect("127.0.0.1", time);
        CompletableFuture<Integer> answer = connections.send(
                Duration.ofSeconds(5), ServerRequest.get("GET /x", "/x"), HOUR, 1000, body -> body.length);

        connections.close();

        assertThat(failureOf(answer).reason()).isEqualTo(FailureReason.REJECTED);
        assertThat(failureOf(answer)).hasMessageContaining("have been closed");
    }

    /** Holds the lookup of a host name, which is the second urgent task, after the reading of the credentials. */
    private static final class HeldLookups extends ForwardingTimekeeper {

        private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
        private boolean credentialsAreRead; // guarded by this

        HeldLookups(Timekeeper time) {
            super(time);
        }

        @Override
        public synchronized Executor urgent() {
            if (credentialsAreRead) {
                return tasks::add;
            }
            credentialsAreRead = true;
            return super.urgent();
        }
    }

    @Test
    void lookup_thatHangs_failsTheConnectionAfterTwentySeconds() throws Exception {
        HeldLookups held = new HeldLookups(time);
        connect("localhost", held);
        CompletableFuture<Integer> answer = list("/x");
        await().until(() -> held.tasks.size() == 1);

        time.advance(Duration.ofSeconds(20).minusMillis(1));
        assertThat(answer).isNotDone();
        time.advance(Duration.ofMillis(1));

        assertThat(failureOf(answer).reason()).isEqualTo(FailureReason.TIMEOUT);
        assertThat(connections.size()).isZero();
        // nothing is left for a lookup that comes back after all
        held.tasks.remove().run();
        assertThat(proxy.accepted()).isZero();
    }

    @Test
    void lookupAndHandshake_shareOneDeadline() throws Exception {
        HeldLookups held = new HeldLookups(time);
        proxy.freezeNew();
        connect("localhost", held);
        CompletableFuture<Integer> answer = list("/x");
        await().until(() -> held.tasks.size() == 1);

        time.advance(Duration.ofSeconds(15));
        held.tasks.remove().run();
        await().until(() -> proxy.accepted() == 1);
        time.advance(Duration.ofSeconds(5));

        // not by the timeout of the handshake, which is on real time
        await().atMost(Duration.ofSeconds(8)).until(answer::isDone);
        // the attempt over another address, if the machine has one for the name, is refused
        assertThat(failureOf(answer).reason()).isIn(FailureReason.TIMEOUT, FailureReason.UNAVAILABLE);
    }

    private CompletableFuture<Integer> list(String path) {
        return connections.session().list(ServerRequest.get("LIST " + path, path), HOUR, 1000, body -> body.length);
    }

    private void connect(String host, Timekeeper timekeeper) {
        Config config = new ConfigBuilder(Config.empty()).withTrustCerts(true).build();
        connections = new ApiConnections(
                "https://" + host + ":" + proxy.port(),
                config,
                config.getRequestConfig(),
                timekeeper,
                (request, status) -> {});
    }

    private static ApiServerException failureOf(CompletableFuture<?> request) throws Exception {
        try {
            request.get(Patience.SECONDS, SECONDS);
        } catch (ExecutionException failed) {
            return (ApiServerException) failed.getCause();
        } catch (TimeoutException late) {
            throw new AssertionError("a request does not end", late);
        }
        throw new AssertionError("a request was answered that was to fail");
    }
}
