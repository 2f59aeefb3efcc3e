package dev.podcache.apiserver.http;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.NoLeaks;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
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

    private static final long MOST_BYTES = StreamServer.HALF * 3 / 2;

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

    @Test
    void incompleteAnswers_togetherBeyondTheBound_oneFails_andItsShareIsThereForOthers() {
        connect(StreamServer.withLimit(5));
        List<CompletableFuture<Integer>> both = List.of(half(), half());
        CompletableFuture.anyOf(
                        both.get(0).handle((length, failed) -> 1), both.get(1).handle((length, failed) -> 1))
                .orTimeout(60, TimeUnit.SECONDS)
                .join();
        CompletableFuture<Integer> refused = both.get(0).isDone() ? both.get(0) : both.get(1);
        CompletableFuture<Integer> kept = both.get(0).isDone() ? both.get(1) : both.get(0);

        assertThat(failure(refused).reason()).isEqualTo(FailureReason.UNAVAILABLE);
        assertThat(failure(refused)).hasMessage("LIST things: the memory for incomplete answers is used up");
        assertThat(kept).isNotDone();

        server.endHalves();
        assertThat(kept.orTimeout(60, TimeUnit.SECONDS).join()).isEqualTo(StreamServer.HALF);
        for (int i = 0; i < 3; i++) {
            CompletableFuture<Integer> next = half();
            await().until(() -> server.halves() == 1);
            server.endHalves();
            assertThat(next.orTimeout(60, TimeUnit.SECONDS).join()).isEqualTo(StreamServer.HALF);
        }
    }

    /** Reads an answer of more than half the bound, which goes on. */
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
