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
                        1 << 20,
                        body -> body.length);

        assertThat(failure(read).reason()).isEqualTo(FailureReason.UNREADABLE);
        assertThat(failure(read)).hasMessage("LIST things: the answer is longer than 1048576 bytes");
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

    private void connect(StreamServer to) {
        server = to;
        Config config = new ConfigBuilder(Config.empty()).withTrustCerts(true).build();
        connections = new ApiConnections(
                "https://127.0.0.1:" + server.port(), config, config.getRequestConfig(), time, (request, status) -> {});
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
