package dev.podcache.apiserver.http;

import static dev.podcache.testing.Patience.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.TcpProxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A caller learns when its request is written to a connection, which is later than when it was made. */
@NullUnmarked
@ExtendWith(NoLeaks.class)
class RequestSentTest extends WatchConnectionsFixture {

    private final List<String> course = new CopyOnWriteArrayList<>();

    @Test
    void list_isSentWhenTheConnectionIsOpen_andBeforeTheAnswer() {
        StreamServer server = server(5);
        TcpProxy proxy = proxy(server);
        proxy.freezeNew();
        connect(proxy.port());
        CompletableFuture<String> answer = list("/object");
        await().until(() -> proxy.accepted() == 1);
        assertThat(course).isEmpty();

        proxy.thaw();

        assertThat(answer.join()).isEqualTo("/object");
        assertThat(course).containsExactly("sent", "decoded");
    }

    @Test
    void watch_isSentBeforeItsFirstEvent() {
        StreamServer server = server(5);
        connect(server.port());

        connections
                .session()
                .watch(
                        ServerRequest.get("WATCH /watch", "/watch"),
                        1000,
                        (json, offset, length) -> new Fetched<>(new String(json, offset, length, UTF_8), "1", length),
                        event -> course.add(event instanceof WatchEvent.Opened ? "opened" : "event"),
                        () -> course.add("sent"));

        await().until(() -> course.contains("opened"));
        assertThat(course).containsExactly("sent", "opened");
    }

    @Test
    void list_thatIsSentOverSeveralConnections_isSentOnce() {
        StreamServer server = server(5);
        server.turnAwayEverybody();
        connect(server.port());

        CompletableFuture<String> answer = list("/object");
        // the second connection is opened at once, and others after pauses
        await().until(() -> server.turnedAway.get() >= 2);
        await().until(() -> {
            time.advance(Duration.ofSeconds(1));
            return answer.isDone();
        });

        assertThat(answer).isCompletedExceptionally();
        assertThat(server.turnedAway).hasValueBetween(2, 6);
        assertThat(course).containsExactly("sent");
    }

    @Test
    void list_thatEndsBeforeThereIsAConnection_isNotSent() {
        StreamServer server = server(5);
        int port = server.port();
        server.close();
        connect(port);

        assertThat(list("/object")).failsWithin(Duration.ofSeconds(60));

        assertThat(course).isEmpty();
    }

    @Test
    void list_whoseCallbackThrows_fails() {
        StreamServer server = server(5);
        connect(server.port());
        IllegalStateException thrown = new IllegalStateException("no");

        CompletableFuture<String> answer = connections
                .session()
                .list(ServerRequest.get("LIST /object", "/object"), READ, 1000, body -> new String(body, UTF_8), () -> {
                    throw thrown;
                });

        assertThat(answer)
                .failsWithin(Duration.ofSeconds(60))
                .withThrowableThat()
                .withRootCauseInstanceOf(IllegalStateException.class);
        assertThat(read(connections.session(), "/after")).isEqualTo("/after");
    }

    private CompletableFuture<String> list(String path) {
        return connections
                .session()
                .list(
                        ServerRequest.get("LIST " + path, path),
                        READ,
                        1000,
                        body -> {
                            course.add("decoded");
                            return new String(body, UTF_8);
                        },
                        () -> course.add("sent"));
    }
}
