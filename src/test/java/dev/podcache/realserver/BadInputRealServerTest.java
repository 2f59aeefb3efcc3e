package dev.podcache.realserver;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import dev.podcache.Podcache;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What cannot work, given to the front door: refused with the value and the remedy, or lived with and said. */
@RealServerTest
@ExtendWith(NoLeaks.class)
class BadInputRealServerTest {

    private static final String TTL = "node.alpha.kubernetes.io/ttl";

    private final RealApiServer server = RealApiServer.shared();
    private final KubernetesClient client = server.client();
    private final String node = "node-" + UUID.randomUUID().toString().substring(0, 8);
    private final Podcache cache = Podcache.builder(client)
            .node(node)
            .strategy(ChangeDetectionStrategy.CACHE)
            .build();

    @AfterEach
    void close() {
        cache.close();
        client.close();
    }

    @ParameterizedTest
    @CsvSource({"bad, 1m0s", "99999999999999999999, 1m0s", "1e3, 1m0s"})
    void ttlAnnotation_noSeconds_isSaidAndTheDefaultHolds(String value, String ttl, NoLeaks leaks) {
        leaks.allowWarnings("\"" + value + "\", which is not a number of seconds");
        createNode(value);

        await().untilAsserted(() -> assertThat(freshness()).contains(ttl, TTL, node, "\"" + value + "\"", "default"));
    }

    @ParameterizedTest
    @CsvSource({"-5, 0s", "0, 0s", "3600, 1h0m0s", "9223372036854775807, 2562047h47m16.854775807s"})
    void ttlAnnotation_seconds_hold(String value, String ttl) {
        createNode(value);

        await().untilAsserted(
                        () -> assertThat(freshness()).contains(ttl, TTL, node).doesNotContain("default"));
    }

    @Test
    void node_thatDoesNotExist_isSaidAndTheDefaultHolds() {
        await().untilAsserted(
                        () -> assertThat(freshness()).contains("1m0s", "default", "Node " + node + " does not exist"));
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "null",
            value = {
                "null, db, namespace is null",
                "shop, null, name is null",
            })
    void getObject_null_isNamed(String namespace, String name, String complaint) {
        assertThatNullPointerException()
                .isThrownBy(() -> cache.secrets().getObject(namespace, name))
                .withMessageContaining(complaint);
    }

    @ParameterizedTest
    @CsvSource({
        "'', db, 'namespace \"\" is not a legal Kubernetes name'",
        "shop, '', 'name \"\" is not a legal Kubernetes name'",
        "Shop, db, 'namespace \"Shop\" is not a legal Kubernetes name: at most 63 lower-case letters'",
        "shop, ../nodes, 'name \"../nodes\" is not a legal Kubernetes name'",
        "shop, a/b, 'name \"a/b\" is not a legal Kubernetes name'",
        "shop, d\u00fc, 'name \"d\u00fc\" is not a legal Kubernetes name'"
    })
    void getObject_illegalName_isQuoted(String namespace, String name, String complaint) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> cache.secrets().getObject(namespace, name))
                .withMessageStartingWith(complaint);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> cache.configMaps().state(namespace, name))
                .withMessageStartingWith(complaint);
    }

    @Test
    void registerPod_incomplete_saysWhatIsMissing() {
        Pod complete = new PodBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName("web")
                .withUid("u")
                .endMetadata()
                .withNewSpec()
                .endSpec()
                .build();

        assertRefused(new PodBuilder(complete).withMetadata(null).build(), "metadata");
        assertRefused(
                new PodBuilder(complete)
                        .editMetadata()
                        .withUid(null)
                        .endMetadata()
                        .build(),
                "uid");
        assertRefused(
                new PodBuilder(complete)
                        .editMetadata()
                        .withUid("")
                        .endMetadata()
                        .build(),
                "uid");
        assertRefused(
                new PodBuilder(complete)
                        .editMetadata()
                        .withName(null)
                        .endMetadata()
                        .build(),
                "name");
        assertRefused(
                new PodBuilder(complete)
                        .editMetadata()
                        .withNamespace(null)
                        .endMetadata()
                        .build(),
                "namespace");
        assertRefused(new PodBuilder(complete).withSpec(null).build(), "spec");
    }

    private void assertRefused(Pod pod, String missing) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> cache.registerPod(pod))
                .withMessageContaining(missing);
    }

    private void createNode(String ttl) {
        client.resource(new NodeBuilder()
                        .withNewMetadata()
                        .withName(node)
                        .addToAnnotations(TTL, ttl)
                        .endMetadata()
                        .build())
                .create();
    }

    private String freshness() {
        return cache.secrets().state("shop", "db").freshness();
    }
}
