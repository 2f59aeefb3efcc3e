package dev.podcache.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.object.ObjectKey;
import dev.podcache.testing.ManualTimekeeper;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** A cluster without HTTP. */
abstract class InMemoryClusterFixture {

    static final ObjectKey KEY = ObjectKey.of("shop", "db");

    final ManualTimekeeper time = new ManualTimekeeper();
    final InMemoryCluster cluster = InMemoryCluster.create(time);

    static void assertRefused(ThrowingCallable call, int code, String reason, String message) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(StatusException.class, e -> {
                    assertThat(e.code()).isEqualTo(code);
                    assertThat(e.status().getReason()).isEqualTo(reason);
                })
                .hasMessage(message);
    }

    static String value(ObjectNode secret) {
        return secret.at("/data/key").asText();
    }

    static Secret secret(String plain) {
        return new SecretBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName("db")
                .endMetadata()
                .addToData("key", plain.equals("a") ? "YQ==" : "Yg==")
                .build();
    }

    static Node node(String ready) {
        return new NodeBuilder()
                .withNewMetadata()
                .withName("worker-1")
                .endMetadata()
                .withNewStatus()
                .addNewCondition()
                .withType("Ready")
                .withStatus(ready)
                .endCondition()
                .endStatus()
                .build();
    }
}
