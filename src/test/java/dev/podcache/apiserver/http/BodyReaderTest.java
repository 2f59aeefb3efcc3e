package dev.podcache.apiserver.http;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.NoLeaks;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The bound on a body, and that every read which collects one has it. */
@NullUnmarked
@ExtendWith(NoLeaks.class)
class BodyReaderTest {

    private static final int MOST_BYTES = StreamServer.HALF - 100_000;

    private final Timekeeper time = Timekeeper.system();
    private StreamServer server;
    private ApiConnections connections;

    @AfterEach
    void tearDown() {
        if (server != null) {
            connections.close();
            server.close();
        }
        time.close();
    }

    @Test
    void list_thatNeverEnds_isUnreadableAndItsStreamReset() {
        connect(StreamServer.withLimit(5));

        CompletableFuture<Integer> read = connections
                .session()
                .list(
                        ServerRequest.get("LIST things", "/endless"),
                        Duration.ofSeconds(60),
                        1 << 19,
                        body -> body.length);

        assertThat(failure(read).reason()).isEqualTo(FailureReason.UNREADABLE);
        assertThat(failure(read)).hasMessage("LIST things: the answer is longer than 524288 bytes");
        await().until(() -> server.floods.get() == 0);
    }

    @Test
    void decode_thatDiesOfAnError_endsTheWait() {
        connect(StreamServer.withLimit(5));

        assertThat(connections
                        .session()
                        .list(ServerRequest.get("LIST things", "/fine"), Duration.ofSeconds(20), 1000, bytes -> {
                            throw new StackOverflowError();
                        }))
                .failsWithin(Duration.ofSeconds(60))
                .withThrowableOfType(ExecutionException.class)
                .withCauseInstanceOf(StackOverflowError.class);
    }

    /** No thread for the decoder: the wait ends, and the permits are back. */
    @Test
    void workers_thatTakeNoTask_endTheWait() {
        ReceiveBudget budget = new ReceiveBudget(10, time);
        BodyReader<String> reader = new BodyReader<>("LIST things", 10, budget, String::new, task -> {
            throw new OutOfMemoryError("unable to create native thread");
        });
        reader.ended(null);

        assertThat(reader.result()).isCompletedExceptionally();
        assertThat(budget.held()).isZero();
    }

    @Test
    void answerBeyondTheBound_fails_andItsShareIsThereForOthers() {
        connect(StreamServer.withLimit(5));

        ApiServerException refused = failure(half());

        assertThat(refused.reason()).isEqualTo(FailureReason.UNAVAILABLE);
        assertThat(refused).hasMessage("LIST things: the memory for incomplete answers is used up");
        assertThat(connections.budget().held()).isZero();
        assertThat(connections
                        .session()
                        .list(ServerRequest.get("LIST things", "/fine"), Duration.ofSeconds(60), 1000, String::new))
                .succeedsWithin(Duration.ofSeconds(60))
                .isEqualTo("/fine");
    }

    /** A body that waits for a worker is memory too. */
    @Test
    void completeBody_countsUntilItIsDecoded() throws InterruptedException {
        connect(StreamServer.withLimit(5));
        CountDownLatch decoding = new CountDownLatch(1);
        CountDownLatch decode = new CountDownLatch(1);

        CompletableFuture<String> read = connections
                .session()
                .list(ServerRequest.get("LIST things", "/fine"), Duration.ofSeconds(60), 1000, body -> {
                    decoding.countDown();
                    awaitThis(decode);
                    return new String(body, StandardCharsets.UTF_8);
                });

        assertThat(decoding.await(60, TimeUnit.SECONDS)).isTrue();
        assertThat(connections.budget().held()).isEqualTo("/fine".length());
        decode.countDown();
        assertThat(read).succeedsWithin(Duration.ofSeconds(60)).isEqualTo("/fine");
        await().until(() -> connections.budget().held() == 0);
    }

    private static void awaitThis(CountDownLatch latch) {
        try {
            latch.await(60, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Reads an answer of more than the bound, which goes on. */
    private CompletableFuture<Integer> half() {
        return connections
                .session()
                .list(
                        ServerRequest.get("LIST things", "/half"),
                        Duration.ofSeconds(120),
                        2 * StreamServer.HALF,
                        body -> body.length);
    }

    private void connect(StreamServer to) {
        server = to;
        Config config = new ConfigBuilder(Config.empty()).withTrustCerts(true).build();
        connections = new ApiConnections(
                "https://127.0.0.1:" + server.port(),
                config,
                config.getRequestConfig(),
                ClientInterceptors.NONE,
                time,
                (request, status) -> {},
                MOST_BYTES);
    }

    private static ApiServerException failure(CompletableFuture<?> future) {
        try {
            throw new AssertionError(
                    "brought " + future.orTimeout(60, TimeUnit.SECONDS).join());
        } catch (CompletionException e) {
            return (ApiServerException) e.getCause();
        }
    }
}
