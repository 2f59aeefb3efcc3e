package dev.podcache.apiserver.fabric8;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer.Heartbeats;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What heartbeats and other writes send, and which of them are limited. */
@ExtendWith(NoLeaks.class)
class HeartbeatsTest {

    private static final Duration LEASE = Duration.ofSeconds(40);
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final ObjectKey WEB = ObjectKey.of("shop", "web");

    private final ScriptedServer network = new ScriptedServer();
    private final KubernetesClient client = new KubernetesClientBuilder()
            .withConfig(new ConfigBuilder(Config.empty())
                    .withMasterUrl(network.url())
                    .withOauthToken("t0ken")
                    .build())
            .build();
    private final Fabric8ApiServer server = Fabric8ApiServer.of(client, new RequestLimit(0.001, 1));
    private final Heartbeats heartbeats = server.heartbeats(LEASE);

    @AfterEach
    void tearDown() {
        server.close();
        client.close();
        network.close();
    }

    @Test
    void patchStatus_ofANode_isAStrategicMergePatchWithOurCredentials() {
        network.answer("200 OK", "{\"kind\":\"Node\",\"metadata\":{\"name\":\"n\"}}");
        heartbeats.nodes().patchStatus(ObjectKey.of("", "n"), "{\"status\":{}}").join();

        assertThat(network.requests.get(0))
                .startsWith("PATCH /api/v1/nodes/n/status HTTP/1.1\r\n")
                .containsIgnoringCase("Content-Type: application/strategic-merge-patch+json")
                .containsIgnoringCase("Authorization: Bearer t0ken")
                .containsIgnoringCase("Accept: application/json");
    }

    @Test
    void delete_ofAPod_isADeleteWithABody() {
        network.answer("200 OK", "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"web\",\"namespace\":\"shop\"}}");
        server.api(ObjectKind.POD, TIMEOUT).delete(WEB, "uid-1").join();

        assertThat(network.requests.get(0))
                .startsWith("DELETE /api/v1/namespaces/shop/pods/web HTTP/1.1\r\n")
                .containsIgnoringCase("Content-Type: application/json");
    }

    @Test
    void limit_writesOfPodsAndEvents_count() {
        network.answer("200 OK", "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"web\",\"namespace\":\"shop\"}}");
        server.api(ObjectKind.POD, TIMEOUT).patchStatus(WEB, "{}").join();

        assertThat(failure(server.api(ObjectKind.POD, TIMEOUT).patchStatus(WEB, "{}"))
                        .reason())
                .isEqualTo(FailureReason.THROTTLED);
        assertThat(failure(server.api(ObjectKind.POD, TIMEOUT).delete(WEB, "uid"))
                        .reason())
                .isEqualTo(FailureReason.THROTTLED);
        assertThat(failure(server.api(ObjectKind.EVENT, TIMEOUT).patch(WEB, "{}"))
                        .reason())
                .isEqualTo(FailureReason.THROTTLED);
        assertThat(network.requests).hasSize(1);
    }

    @Test
    void limit_heartbeats_doNotCount() {
        network.answer("200 OK", "{\"kind\":\"Node\",\"metadata\":{\"name\":\"n\"}}");
        for (int i = 0; i < 5; i++) {
            heartbeats.nodes().get(ObjectKey.of("", "n")).join();
        }

        assertThat(network.requests).hasSize(5);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void close_ofHeartbeatsOrServer_failsWhatIsUnderWayAndWhatComes(boolean ofServer) {
        CompletableFuture<?> underWay = heartbeats.nodes().get(ObjectKey.of("", "n"));
        await().until(() -> network.requests.size() == 1);

        if (ofServer) {
            server.close();
        } else {
            heartbeats.close();
        }

        assertThat(failure(underWay).reason()).isEqualTo(FailureReason.REJECTED);
        assertThat(failure(heartbeats.nodes().get(ObjectKey.of("", "n")))).hasMessageContaining("have been closed");
        await().until(() -> network.openConnections.get() == 0);
    }

    @Test
    void heartbeats_ofAClosedServer_fail() {
        server.close();

        assertThat(failure(server.heartbeats(LEASE).nodes().get(ObjectKey.of("", "n")))
                        .reason())
                .isEqualTo(FailureReason.REJECTED);
    }

    @Test
    void heartbeats_ofALeaseWithoutTime_areRefused() {
        assertThatThrownBy(() -> server.heartbeats(Duration.ZERO)).isInstanceOf(IllegalArgumentException.class);
    }

    private static ApiServerException failure(CompletableFuture<?> call) {
        Throwable thrown = catchThrowable(call::join);
        assertThat(thrown).hasCauseInstanceOf(ApiServerException.class);
        Throwable cause = thrown == null ? null : thrown.getCause();
        if (cause instanceof ApiServerException failure) {
            return failure;
        }
        throw new AssertionError(cause);
    }
}
