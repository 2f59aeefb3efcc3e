package dev.podcache.kubelet.server;

import static dev.podcache.testing.Patience.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is on the wire of a listener without TLS. */
@ExtendWith(NoLeaks.class)
class HttpListenerTest {

    private static final String HELLO = "\r\nhello";

    private final ManualTimekeeper clock = new ManualTimekeeper();
    private final List<KubeletRequest> requests = new CopyOnWriteArrayList<>();
    private final CompletableFuture<KubeletResponse> held = new CompletableFuture<>();
    private final CompletableFuture<ResponseStream> streamed = new CompletableFuture<>();
    private final AtomicInteger released = new AtomicInteger();
    private final HttpListener listener = new HttpListener(this::answer, new HeldStreams(), clock);

    private final class HeldStreams implements HttpListener.Transfers {

        @Override
        public void send(KubeletResponse.Streamed source, ResponseStream client) {
            streamed.complete(client);
        }

        @Override
        public void run(KubeletResponse.Upgrade upgrade, MessageChannel client) {
            client.close();
        }
    }

    private CompletableFuture<KubeletResponse> answer(KubeletRequest request) {
        requests.add(request);
        return switch (request.path()) {
            case "/held" -> held;
            case "/stream" ->
                CompletableFuture.completedFuture(
                        new KubeletResponse.Streamed(new ByteArrayInputStream(new byte[0]), released::incrementAndGet));
            case "/close" ->
                CompletableFuture.completedFuture(
                        KubeletResponse.text(200, "hello").with(Map.of("Connection", "close")));
            default -> CompletableFuture.completedFuture(KubeletResponse.text(200, "hello"));
        };
    }

    @AfterEach
    void close() {
        listener.close();
        clock.close();
    }

    private RawClient connect() throws IOException {
        if (listener.port() == 0) {
            listener.listen("127.0.0.1", 0);
        }
        return RawClient.plain(listener.port());
    }

    @Test
    void answer_ofAKeptConnection_hasALengthAndATypeThatIsNotSniffed() throws Exception {
        try (RawClient client = connect()) {
            for (int i = 0; i < 3; i++) {
                assertThat(client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").answer())
                        .startsWith("HTTP/1.1 200 OK\r\n")
                        .containsIgnoringCase("\r\nContent-Length: 5\r\n")
                        .containsIgnoringCase("\r\nContent-Type: text/plain; charset=utf-8\r\n")
                        .containsIgnoringCase("\r\nX-Content-Type-Options: nosniff\r\n")
                        .doesNotContainIgnoringCase("\r\nConnection:")
                        .endsWith(HELLO);
            }
        }
        assertThat(requests).hasSize(3);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            GET /close HTTP/1.1                      | HTTP/1.1 | close      | true
            GET / HTTP/1.1%Connection: close         | HTTP/1.1 | close      | true
            GET / HTTP/1.0                           | HTTP/1.0 | close      | true
            GET / HTTP/1.0%Connection: keep-alive    | HTTP/1.0 | keep-alive | false
            """)
    void connection_isKeptAsItsHeaderSays(String request, String version, String connection, boolean ended)
            throws Exception {
        try (RawClient client = connect()) {
            assertThat(client.send(request.replace("%", "\r\n") + "\r\n\r\n").answer())
                    .startsWith(version + " 200 ")
                    .containsIgnoringCase("\r\nConnection: " + connection + "\r\n")
                    .endsWith(HELLO);

            if (ended) {
                assertThat(client.rest()).isEmpty();
            } else {
                assertThat(client.send("GET / HTTP/1.1\r\n\r\n").answer()).endsWith(HELLO);
            }
        }
    }

    @Test
    void head_hasTheLengthAndNoBody() throws Exception {
        try (RawClient client = connect()) {
            assertThat(client.send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n").head())
                    .containsIgnoringCase("\r\nContent-Length: 5\r\n");
            assertThat(client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").answer())
                    .startsWith("HTTP/1.1 200 ")
                    .endsWith(HELLO);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            /a/b?x=1&x=2                | /a/b  | {x=[1, 2]}
            /a%2Fb?x=%2B+               | /a%2Fb | {x=[+ ]}
            http://other.example/a?y=   | /a    | {y=[]}
            http://other.example        | /     | {}
            http://other.example?y=/z   | /     | {y=[/z]}
            *                           | *     | {}
            /a?b?c=d                    | /a    | {b?c=[d]}
            """)
    void target_hasAPathAndAQuery(String target, String path, String query) throws Exception {
        try (RawClient client = connect()) {
            client.send("GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n").answer();
        }
        assertThat(requests).singleElement().satisfies(request -> {
            assertThat(request.path()).isEqualTo(path);
            assertThat(request.query().toString().strip()).isEqualTo(query);
            assertThat(request.host()).isEqualTo("x");
        });
    }

    @Test
    void request_withABody_isAnswered_andTheBodyIsDropped() throws Exception {
        try (RawClient client = connect()) {
            assertThat(client.send("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nabcdeGET /x HTTP/1.1\r\n\r\n")
                            .answer())
                    .endsWith(HELLO);
            assertThat(client.answer()).endsWith(HELLO);
            assertThat(client.send("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
                            .answer())
                    .endsWith(HELLO);
            assertThat(client.rest()).isEmpty();
        }
        assertThat(requests).extracting(KubeletRequest::path).containsExactly("/", "/x", "/");
    }

    @Test
    void stream_isSentInParts_andItsEndKeepsTheConnection() throws Exception {
        try (RawClient client = connect()) {
            assertThat(client.send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n").head())
                    .startsWith("HTTP/1.1 200 ")
                    .containsIgnoringCase("\r\nTransfer-Encoding: chunked\r\n")
                    .containsIgnoringCase("\r\nContent-Type: text/plain\r\n");
            ResponseStream stream = streamed.join();

            CompletableFuture<?> written = stream.write("one".getBytes(UTF_8));

            assertThat(client.next(8)).isEqualTo("3\r\none\r\n");
            await().until(written::isDone);
            assertThat(written).isCompleted();
            stream.end();
            assertThat(client.next(5)).isEqualTo("0\r\n\r\n");
            await().until(() -> stream.closed().isDone());
            CompletableFuture<?> late = stream.write(new byte[1]);
            await().until(late::isDone);
            assertThat(late).isCompletedExceptionally();
            assertThat(client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").answer())
                    .endsWith(HELLO);
        }
    }

    @Test
    void stream_ofHttp10_endsWithTheConnection() throws Exception {
        try (RawClient client = connect()) {
            client.send("GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
            ResponseStream stream = streamed.join();
            stream.write("one".getBytes(UTF_8));
            stream.end();

            assertThat(client.rest())
                    .startsWith("HTTP/1.0 200 ")
                    .doesNotContainIgnoringCase("Transfer-Encoding")
                    .endsWith("\r\n\r\none");
        }
    }

    @Test
    void stream_ofHead_hasNoBody() throws Exception {
        try (RawClient client = connect()) {
            client.send("HEAD /stream HTTP/1.1\r\nHost: x\r\n\r\n");
            ResponseStream stream = streamed.join();
            CompletableFuture<?> written = stream.write("one".getBytes(UTF_8));
            await().until(written::isDone);
            stream.end();

            assertThat(client.rest())
                    .startsWith("HTTP/1.1 200 ")
                    .endsWith("\r\n\r\n")
                    .doesNotContain("one");
        }
    }

    @Test
    void stream_aborted_showsThatItIsNotComplete() throws Exception {
        try (RawClient client = connect()) {
            client.send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
            ResponseStream stream = streamed.join();
            stream.write("one".getBytes(UTF_8));
            stream.abort();

            assertThat(client.rest()).contains("3\r\none\r\n").doesNotContain("0\r\n\r\n");
            await().until(() -> stream.closed().isDone());
        }
    }

    @Test
    void stream_clientLeaves_isClosed() throws Exception {
        ResponseStream stream;
        try (RawClient client = connect()) {
            client.send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n").head();
            stream = streamed.join();
            assertThat(stream.closed()).isNotDone();
        }

        await().until(() -> stream.closed().isDone());
        CompletableFuture<?> late = stream.write(new byte[1]);
        await().until(late::isDone);
        assertThat(late).isCompletedExceptionally();
    }

    @Test
    void listenerIsClosed_answerThatComesLater_isReleased() throws Exception {
        try (RawClient client = connect()) {
            client.send("GET /held HTTP/1.1\r\nHost: x\r\n\r\n");
            await().until(() -> requests.size() == 1);

            listener.close();
            held.complete(
                    new KubeletResponse.Streamed(new ByteArrayInputStream(new byte[0]), released::incrementAndGet));

            assertThat(released).hasValue(1);
            assertThat(client.rest()).isEmpty();
        }
    }

    @Test
    void listen_portInUse_fails_andTheListenerCanBeClosed() throws Exception {
        connect().close();
        HttpListener second = new HttpListener(this::answer, new HeldStreams(), clock);
        try {
            assertThatThrownBy(() -> second.listen("127.0.0.1", listener.port()))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("in use");
            assertThat(second.port()).isZero();
        } finally {
            second.close();
            second.close();
        }
    }

    @Test
    void close_neverListened_endsAtOnce() {
        assertThat(listener.port()).isZero();
        listener.close();
    }
}
