package dev.podcache.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RawApi.Reply;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(NoLeaks.class)
class TokenEndpointTest {

    private static final String PATH = "/api/v1/namespaces/shop/serviceaccounts/default/token";

    private final OwnServer server = new OwnServer();

    @AfterEach
    void close() {
        server.close();
    }

    @Test
    void post_answersTheRequestWithItsDefaultsAndStatus() throws Exception {
        Reply reply = server.api().post(PATH, "{\"spec\":{}}");

        assertThat(reply.code()).isEqualTo(201);
        assertThat(reply.text("/kind")).isEqualTo("TokenRequest");
        assertThat(reply.text("/apiVersion")).isEqualTo("authentication.k8s.io/v1");
        assertThat(reply.text("/spec/audiences/0")).isEqualTo("https://kubernetes.default.svc");
        assertThat(reply.body().at("/spec/expirationSeconds").asLong()).isEqualTo(3600);
        Duration life = Duration.between(Instant.now(), Instant.parse(reply.text("/status/expirationTimestamp")));
        assertThat(life).isBetween(Duration.ofMinutes(58), Duration.ofHours(1));
        assertThat(server.api().post(PATH, "{}").text("/status/token"))
                .isNotEmpty()
                .isNotEqualTo(reply.text("/status/token"));
    }

    @ParameterizedTest
    @ValueSource(longs = {599, -1, 1L << 33, Long.MAX_VALUE})
    void post_lifeOutOfRange_isRefused(long seconds) throws Exception {
        assertThat(server.api()
                        .post(PATH, "{\"spec\":{\"expirationSeconds\":" + seconds + "}}")
                        .code())
                .isEqualTo(422);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "[]", "{", "3"})
    void post_bodyThatIsNoObject_isRefused(String body) throws Exception {
        assertThat(server.api().post(PATH, body).code()).isEqualTo(400);
    }

    @Test
    void otherMethods_areRefused() throws Exception {
        assertThat(server.api().get(PATH).code()).isEqualTo(405);
        assertThat(server.api().put(PATH, "{}").code()).isEqualTo(405);
    }
}
