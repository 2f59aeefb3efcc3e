package dev.podcache.realserver;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.podcache.Podcache;
import dev.podcache.apiserver.TokenRequests;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.kubelet.podconfig.PodConfigException;
import dev.podcache.kubelet.podconfig.PodPlacement;
import dev.podcache.kubelet.podconfig.ServiceAccountTokens;
import dev.podcache.kubelet.podconfig.VolumePayloads;
import dev.podcache.kubelet.runtime.VolumeFile;
import dev.podcache.testing.FakeTrustBundles;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.Needs;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.ServerFeature;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** What a real server makes of our token requests, and of the tokens. */
@RealServerTest
@Needs({ServerFeature.SERVICE_ACCOUNTS, ServerFeature.TOKENS, ServerFeature.NODE_AUTHORIZER})
@ExtendWith(NoLeaks.class)
class ServiceAccountTokensRealServerTest {

    private static final PodPlacement PLACEMENT = new PodPlacement(List.of(), List.of("10.0.0.1"), Map.of());

    private final RealApiServer real = RealApiServer.shared();
    private final TestNamespace shop = new TestNamespace(real);
    private final String node = "node-of-" + shop.name();

    @TempDir
    Path temp;

    @AfterEach
    void close() {
        shop.close();
    }

    @Test
    void tokenOfANodesPod_isAcceptedAndNamesThePod(NoLeaks leaks) throws IOException {
        leaks.allowWarnings("failed; retrying");
        Pod pod = create("web", node);
        try (Node kubelet = new Node(real.nodeConfig(node))) {
            // the Node authorizer learns of a new pod a moment later
            await().ignoreExceptions().untilAsserted(() -> {
                JsonNode review = review(kubelet.token(pod));
                assertThat(review.at("/status/authenticated").asBoolean()).isTrue();
                assertThat(review.at("/status/user/username").asText())
                        .isEqualTo("system:serviceaccount:" + shop.name() + ":default");
                assertThat(review.at("/status/user/extra/authentication.kubernetes.io~1pod-name/0")
                                .asText())
                        .isEqualTo("web");
                assertThat(review.at("/status/user/extra/authentication.kubernetes.io~1pod-uid/0")
                                .asText())
                        .isEqualTo(pod.getMetadata().getUid());
            });
        }
    }

    @Test
    void tokenAfter80PercentOfItsLife_isRenewed_andBothAreAccepted(NoLeaks leaks) throws IOException {
        leaks.allowWarnings("failed; retrying");
        Pod pod = create("web", node);
        try (Node admin = new Node(real.config())) {
            String first = admin.token(pod);
            // of 3607 s, less half of the jitter
            assertThat(admin.tokens.nextRenewal(pod)).contains(Duration.ofMillis(2885_600 - 5_000));
            admin.clock.advance(Duration.ofMinutes(47));
            assertThat(admin.token(pod)).isEqualTo(first);
            assertThat(admin.requests).hasValue(1);

            admin.clock.advance(Duration.ofMinutes(2));
            String second = admin.token(pod);

            // within one second, the server signs the same token again
            assertThat(admin.requests).hasValue(2);
            for (String token : List.of(first, second)) {
                assertThat(review(token).at("/status/authenticated").asBoolean())
                        .isTrue();
            }
        }
    }

    @Test
    void tokenOfAnotherNodesPod_isRefused_andThePermissionIsNamed(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        Pod pod = create("web", "node-elsewhere");
        try (Node kubelet = new Node(real.nodeConfig(node))) {
            assertThatThrownBy(() -> kubelet.token(pod))
                    .isInstanceOf(PodConfigException.class)
                    .hasMessageContaining("POST ServiceAccount " + shop.name() + "/default token was answered 403")
                    .hasMessageContaining("permission to create serviceaccounts/token in namespace " + shop.name());
        }
    }

    @Test
    void tokenOfADeletedPod_isNotFound(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        Pod pod = create("web", node);
        shop.kubectl("delete", "pod", "web", "--grace-period=0", "--force");
        try (Node admin = new Node(real.config())) {
            assertThatThrownBy(() -> admin.token(pod))
                    .hasMessageContaining("failed to fetch token: ")
                    .hasMessageContaining("was answered 404");
        }
    }

    /** The volumes of a node's pods, with the node's credentials. */
    private static final class Node implements AutoCloseable {

        private final ManualTimekeeper clock = new ManualTimekeeper();
        private final AtomicInteger requests = new AtomicInteger();
        private final KubernetesClient client;
        private final Fabric8ApiServer server;
        private final Podcache cache;
        private final ServiceAccountTokens tokens;
        private final VolumePayloads payloads;

        Node(Config config) {
            client = TestNamespace.clientOf(config);
            server = Fabric8ApiServer.of(client);
            cache = Podcache.builder(client).build();
            TokenRequests port = server.tokenRequests(Duration.ofSeconds(10));
            TokenRequests counted = (account, spec) -> {
                requests.incrementAndGet();
                return port.create(account, spec);
            };
            tokens = new ServiceAccountTokens(counted, clock, () -> 0.5);
            payloads = new VolumePayloads(
                    cache.secrets(), cache.configMaps(), tokens, new FakeTrustBundles().untold(clock));
        }

        String token(Pod pod) {
            Volume volume = pod.getSpec().getVolumes().stream()
                    .filter(each -> each.getName().equals("token"))
                    .findFirst()
                    .orElseThrow();
            VolumeFile file = payloads.of(pod, volume, PLACEMENT).get("token");
            return new String(Objects.requireNonNull(file).bytes(), StandardCharsets.UTF_8);
        }

        @Override
        public void close() {
            cache.close();
            server.close();
            client.close();
        }
    }

    private Pod create(String name, String nodeName) {
        Volume volume = new VolumeBuilder()
                .withName("token")
                .withNewProjected()
                .withDefaultMode(0644)
                .addNewSource()
                .withNewServiceAccountToken()
                .withExpirationSeconds(3607L)
                .withPath("token")
                .endServiceAccountToken()
                .endSource()
                .endProjected()
                .build();
        Pod pod = new PodBuilder(shop.pod(name, nodeName))
                .editSpec()
                .addToVolumes(volume)
                .endSpec()
                .build();
        return shop.admin().resource(pod).create();
    }

    private JsonNode review(String token) throws IOException {
        Path review = temp.resolve("review.json");
        Files.writeString(
                review,
                "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenReview\",\"spec\":{\"token\":\"" + token
                        + "\"}}");
        return new ObjectMapper()
                .readTree(real.kubectl(
                        "create", "--raw", "/apis/authentication.k8s.io/v1/tokenreviews", "--filename=" + review));
    }
}
