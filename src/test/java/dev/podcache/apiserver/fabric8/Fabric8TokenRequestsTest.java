package dev.podcache.apiserver.fabric8;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.TokenRequests;
import dev.podcache.apiserver.TokenRequests.IssuedToken;
import dev.podcache.apiserver.TokenRequests.TokenSpec;
import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.PodKey;
import dev.podcache.testing.NoLeaks;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** On the embedded server, whose tokens are not signed. */
@ExtendWith(NoLeaks.class)
class Fabric8TokenRequestsTest {

    private static final ObjectKey ACCOUNT = ObjectKey.of("shop", "default");

    private final Timekeeper timekeeper = Timekeeper.system();
    private final InMemoryCluster cluster = InMemoryCluster.create(timekeeper);
    private final EmbeddedApiServer embedded = EmbeddedApiServer.start(cluster);
    private final KubernetesClient client = new KubernetesClientBuilder()
            .withConfig(new ConfigBuilder(Config.empty())
                    .withMasterUrl(embedded.url())
                    .build())
            .build();
    private final Fabric8ApiServer server = Fabric8ApiServer.of(client, new RequestLimit(0.001, 2));
    private final TokenRequests requests = server.tokenRequests(Duration.ofSeconds(20));
    private final Pod web = cluster.create(new PodBuilder()
            .withNewMetadata()
            .withNamespace("shop")
            .withName("web")
            .endMetadata()
            .withNewSpec()
            .addNewContainer()
            .withName("c")
            .withImage("i")
            .endContainer()
            .endSpec()
            .build());

    @AfterEach
    void close() {
        server.close();
        client.close();
        embedded.close();
        cluster.close();
        timekeeper.close();
    }

    @Test
    void create_returnsTokenAndLife() {
        IssuedToken token = requests.create(ACCOUNT, spec("vault", OptionalLong.of(7200), uid()))
                .join();

        assertThat(token.life()).isEqualTo(Duration.ofHours(2));
        assertThat(claims(token)).contains("\"aud\":[\"vault\"]").contains("system:serviceaccount:shop:default");
    }

    @Test
    void create_withoutAudienceAndLife_hasTheServersDefaults() {
        IssuedToken token =
                requests.create(ACCOUNT, spec("", OptionalLong.empty(), uid())).join();

        assertThat(token.life()).isEqualTo(Duration.ofHours(1));
        assertThat(claims(token)).contains("https://kubernetes.default.svc");
    }

    @Test
    void create_podIsAnother_fails() {
        assertThat(failure(requests.create(ACCOUNT, spec("", OptionalLong.empty(), "other")))
                        .reason())
                .isEqualTo(FailureReason.CONFLICT);

        cluster.deleteNow(web);
        assertThat(failure(requests.create(ACCOUNT, spec("", OptionalLong.empty(), uid())))
                        .reason())
                .isEqualTo(FailureReason.NOT_FOUND);
    }

    @Test
    void create_lifeTooShort_isRejected() {
        ApiServerException failure = failure(requests.create(ACCOUNT, spec("", OptionalLong.of(60), uid())));

        assertThat(failure.reason()).isEqualTo(FailureReason.REJECTED);
        assertThat(failure)
                .hasMessage("POST ServiceAccount shop/default token was answered 422:"
                        + " TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid value: 60:"
                        + " may not specify a duration less than 10 minutes");
    }

    @Test
    void create_countsAgainstTheLimit() {
        requests.create(ACCOUNT, spec("", OptionalLong.empty(), uid())).join();
        requests.create(ACCOUNT, spec("", OptionalLong.empty(), uid())).join();

        assertThat(failure(requests.create(ACCOUNT, spec("", OptionalLong.empty(), uid())))
                        .reason())
                .isEqualTo(FailureReason.THROTTLED);
    }

    private String uid() {
        return web.getMetadata().getUid();
    }

    private static TokenSpec spec(String audience, OptionalLong seconds, String podUid) {
        return new TokenSpec(audience, seconds, PodKey.of("shop", "web", podUid));
    }

    private static String claims(IssuedToken token) {
        String part = token.token().split("\\.", -1)[1];
        return new String(Base64.getUrlDecoder().decode(part), StandardCharsets.UTF_8);
    }

    private static ApiServerException failure(CompletableFuture<?> future) {
        return (ApiServerException) Objects.requireNonNull(
                future.handle((value, failure) -> failure).join());
    }
}
