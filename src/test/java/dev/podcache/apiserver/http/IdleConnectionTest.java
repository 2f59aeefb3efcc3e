package dev.podcache.apiserver.http;

import static dev.podcache.testing.Patience.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import java.time.Duration;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A connection of requests is closed when it has been unused for 90 s without a break. */
@NullUnmarked
@ExtendWith(NoLeaks.class)
class IdleConnectionTest {

    private final ManualTimekeeper time = new ManualTimekeeper();
    private StreamServer server;
    private ApiConnections connections;

    @BeforeEach
    void connect() {
        // over HTTP/1.1 there are no pings, whose timers would count too
        server = StreamServer.withoutHttp2();
        Config config = new ConfigBuilder(Config.empty()).withTrustCerts(true).build();
        connections = new ApiConnections(
                "https://127.0.0.1:" + server.port(), config, config.getRequestConfig(), time, (request, status) -> {});
    }

    @AfterEach
    void tearDown() {
        connections.close();
        server.close();
    }

    @Test
    void getsAt0And60And85Seconds_isOpenAt174_andClosedAt175() {
        get("/at/0");
        time.advance(Duration.ofSeconds(60));
        get("/at/60");
        time.advance(Duration.ofSeconds(25));
        get("/at/85");

        time.advance(Duration.ofSeconds(89));
        assertThat(connections.size()).isEqualTo(1);
        assertThat(server.connections).hasSize(1);

        time.advance(Duration.ofSeconds(1));
        assertThat(connections.size()).isZero();
        await().until(() -> server.connections.isEmpty());
    }

    @Test
    void manyGets_haveOneTimer_andLeaveNone() {
        for (int i = 0; i < 100; i++) {
            get("/" + i);
            time.advance(Duration.ofMillis(10));
        }

        assertThat(time.scheduledTasks()).isEqualTo(1);
        time.advance(Duration.ofSeconds(180));
        assertThat(time.scheduledTasks()).isZero();
        assertThat(connections.size()).isZero();
    }

    @Test
    void inUseWhenTheTimerIsDue_staysOpenForTheIdleTimeAfterIt() {
        get("/before");
        server.hold();
        var running = connections.send(
                Duration.ZERO, ServerRequest.get("GET /long", "/long"), Duration.ofHours(1), 1000, body -> body.length);
        await().until(() -> server.arrived.contains("/long"));
        time.advance(Duration.ofSeconds(100));
        server.release();
        assertThat(running.join()).isEqualTo("/long".length());

        time.advance(Duration.ofSeconds(89));
        assertThat(connections.size()).isEqualTo(1);
        time.advance(Duration.ofSeconds(1));
        assertThat(connections.size()).isZero();
    }

    private void get(String path) {
        assertThat(connections
                        .send(
                                Duration.ZERO,
                                ServerRequest.get("GET " + path, path),
                                Duration.ofSeconds(10),
                                1000,
                                body -> new String(body, UTF_8))
                        .join())
                .isEqualTo(path);
    }
}
