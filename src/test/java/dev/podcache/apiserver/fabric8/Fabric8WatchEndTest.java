package dev.podcache.apiserver.fabric8;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import io.vertx.core.buffer.Buffer;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

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
        network.onRequest(socket -> {
            socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
            ScriptedServer.chunk(
                    socket, Buffer.buffer("{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410}}\n"));
        });
        watch();
        next();

        assertThat(ended(next()).reason()).isEqualTo(FailureReason.EXPIRED);
        await().until(() -> network.openConnections.get() == 0);
    }

    @Test
    void watch_brokenEvent_endsAndTellsNothingMore() throws InterruptedException {
        network.stream(event("ADDED", "1") + "{\"canary\n" + event("ADDED", "2"), 5);
        watch();
        next();
        assertThat(text(next())).isEqualTo("1");

        ApiServerException failure = ended(next());

        assertThat(failure.reason()).isEqualTo(FailureReason.UNREADABLE);
        assertThat(failure.getMessage()).doesNotContain("canary");
        assertThat(events.poll(200, TimeUnit.MILLISECONDS)).isNull();
    }

    @Test
    void watch_answerEndingInsideAnEvent_endsWithACause() throws InterruptedException {
        network.stream("{\"type\":\"ADDED\",\"obj", 1000);
        watch();
        next();

        assertThat(ended(next()).getMessage()).endsWith("the answer ended inside an event");
    }

    @Test
    void watch_connectionCut_isUnavailable() throws InterruptedException {
        network.onRequest(socket -> {
            socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
            network.vertx.setTimer(50, later -> socket.close());
        });
        watch();
        next();

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
    void closeOfTheHandle_openWatch_closesTheConnectionAndTellsNothingMore() throws InterruptedException {
        network.onRequest(socket -> {
            socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
            network.vertx.setPeriodic(5, tick -> ScriptedServer.chunk(socket, Buffer.buffer(event("ADDED", "x"))));
        });
        WatchHandle handle = watch();
        next();
        next();

        handle.close();
        handle.close();
        await().until(() -> network.openConnections.get() == 0);
        events.clear();

        assertThat(events.poll(100, TimeUnit.MILLISECONDS)).isNull();
    }

    @Test
    void closeOfTheHandle_beforeAnAnswer_tellsNothing() throws InterruptedException {
        WatchHandle handle = watch();
        await().until(() -> network.requests.size() == 1);

        handle.close();

        await().until(() -> network.openConnections.get() == 0);
        assertThat(events.poll(100, TimeUnit.MILLISECONDS)).isNull();
    }

    @Test
    void closeOfTheServer_openWatch_endsItAndItsThreads() throws InterruptedException {
        Set<Thread> before = Thread.getAllStackTraces().keySet();
        network.onRequest(socket -> socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"));
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
    void consumerThatThrows_doesNotEndTheWatch() throws InterruptedException {
        network.stream(event("ADDED", "1") + event("ADDED", "2"), 1000);
        configMaps("").watch("1", HOUR, event -> {
            events.add(event);
            throw new IllegalStateException("broken consumer");
        });

        next();
        assertThat(text(next())).isEqualTo("1");
        assertThat(text(next())).isEqualTo("2");
        assertThat(next()).isEqualTo(new WatchEvent.Ended<>(null));
    }
}
