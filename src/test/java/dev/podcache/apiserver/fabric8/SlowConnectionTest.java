package dev.podcache.apiserver.fabric8;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.Listed;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.TcpProxy;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.vertx.core.http.HttpVersion;
import java.time.Duration;
import java.util.Base64;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A healthy connection over a slow link. */
@NullUnmarked
@ExtendWith(NoLeaks.class)
class SlowConnectionTest extends WireFixture {

    private static final int BYTES_PER_SECOND = 100_000;
    private static final int LIST_BYTES = 1_000_000;
    private static final Duration PING_PERIOD = Duration.ofSeconds(10);

    /** In this time the link carries some bytes on a busy machine, too; for the transport it is a ping period. */
    private static final Duration STEP = Duration.ofMillis(1500);

    @Test
    void answerArrivesSlowly_pingsAreAnsweredLate_connectionIsKept() throws InterruptedException {
        WireServer server = closeLater(WireServer.speaking(HttpVersion.HTTP_2));
        byte[] random = new byte[LIST_BYTES * 3 / 4];
        new Random(1).nextBytes(random); // gzip makes it no smaller than its bytes
        String item =
                "{\"metadata\":{\"name\":\"a\",\"namespace\":\"shop\",\"resourceVersion\":\"5\"},\"data\":{\"k\":\"%s\"}}"
                        .formatted(Base64.getEncoder().encodeToString(random));
        server.handle((request, exchange) -> {
            exchange.response().end(WireServer.listOf("configmaps", "", item));
            return true;
        });
        TcpProxy proxy = closeLater(TcpProxy.to(server.port()));
        ManualTimekeeper time = new ManualTimekeeper();
        connect(config("https://127.0.0.1:" + proxy.port()).build(), time);
        proxy.throttle(BYTES_PER_SECOND);

        CompletableFuture<Listed<ConfigMap>> listed =
                api.<ConfigMap>listerWatcher(ObjectKind.CONFIG_MAP, "shop", "").list(Duration.ofHours(1));
        await().until(() -> !server.arrived.isEmpty());
        await().pollDelay(STEP).pollInterval(STEP).until(() -> {
            time.advance(PING_PERIOD);
            return listed.isDone();
        });

        assertThat(answerOf(listed).items()).hasSize(1);
    }
}
