package dev.podcache.realserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.testing.Needs;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.ServerFeature;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@RealServerTest
@ExtendWith(NoLeaks.class)
class RealApiServerTest {

    private final RealApiServer server = RealApiServer.shared();

    @Test
    void kubectl_afterCreateByClient_getsTheSecret() {
        try (KubernetesClient client = server.client()) {
            client.resource(secret("kubectl")).create();
        }

        assertThat(server.kubectl("get", "secret", "kubectl", "-o", "jsonpath={.data.key}"))
                .isEqualTo("dmFsdWU=");
    }

    @Test
    void kubectl_unknownObject_throwsWhatItComplainedOf() {
        assertThatThrownBy(() -> server.kubectl("get", "secret", "nowhere"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("secrets \"nowhere\" not found");
    }

    @Test
    void clientFor_withoutGrant_isRefusedByItsOwnName() {
        try (KubernetesClient nobody = server.clientFor("jane", "visitors")) {
            assertThatThrownBy(() -> nobody.secrets()
                            .inNamespace("default")
                            .withName("any")
                            .get())
                    .isInstanceOfSatisfying(
                            KubernetesClientException.class,
                            refusal -> assertThat(refusal.getCode()).isEqualTo(403))
                    .hasMessageContaining("User \"jane\" cannot get resource \"secrets\"");
        }
    }

    @Test
    @Needs(ServerFeature.NODE_AUTHORIZER)
    void clientFor_nodeIdentity_isJudgedByTheNodeAuthorizer() {
        try (KubernetesClient node = server.clientFor("system:node:worker-1", "system:nodes")) {
            assertThatThrownBy(() -> node.secrets()
                            .inNamespace("default")
                            .withName("any")
                            .get())
                    .hasMessageContaining("no relationship found between node 'worker-1' and this object");
        }
    }

    @Test
    void metrics_afterTwoGets_countThem() {
        long before = server.metrics().requests("GET", "configmaps");

        server.kubectl("get", "configmap", "one", "--ignore-not-found");
        server.kubectl("get", "configmap", "two", "--ignore-not-found");

        assertThat(server.metrics().requests("GET", "configmaps") - before).isEqualTo(2);
    }

    @Test
    void start_unknownFlag_throwsTheTailOfTheLog() {
        assertThatThrownBy(() -> RealApiServer.start("--no-such-flag"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("kube-apiserver ended with code")
                .hasMessageContaining("unknown flag: --no-such-flag");
    }

    @Test
    void start_afterKillOfBoth_keepsWhatWasThere() {
        RealApiServer own = RealApiServer.restartable();
        try (KubernetesClient client = own.client()) {
            Secret created = client.resource(secret("kept")).create();

            own.apiServer().kill();
            own.etcd().kill();
            assertThatThrownBy(() -> get(client, "kept")).isInstanceOf(KubernetesClientException.class);
            own.etcd().start();
            own.apiServer().start();

            assertThat(get(client, "kept")).isEqualTo(created);
        }
    }

    private static Secret get(KubernetesClient client, String name) {
        return client.secrets().inNamespace("default").withName(name).get();
    }

    private static Secret secret(String name) {
        return new SecretBuilder()
                .withNewMetadata()
                .withNamespace("default")
                .withName(name)
                .endMetadata()
                .addToData("key", "dmFsdWU=")
                .build();
    }
}
