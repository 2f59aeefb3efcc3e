package dev.podcache.kubelet.podconfig;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.object.ObjectKey;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import org.junit.jupiter.api.Test;

class ObjectDataTest {

    private static final ObjectKey DB = ObjectKey.of("shop", "db");
    private static final ConfigTarget MAIN = ConfigTarget.container("main");

    @Test
    void secretThatIsNotBase64_failsWithoutItsContent() {
        Secret secret =
                new SecretBuilder().addToData("key", NoLeaks.CANARY + "!").build();
        ObjectData data = ObjectData.of(secret, DB, MAIN);

        assertThatThrownBy(() -> data.variable("key"))
                .isInstanceOf(PodConfigException.class)
                .hasMessage("the value of key key in Secret shop/db is not base64")
                .hasNoCause();
        assertThatThrownBy(() -> data.file("key")).hasMessageNotContaining(NoLeaks.CANARY);
    }

    @Test
    void objectWithoutData_hasNoKeys() {
        Secret secret = new Secret();
        secret.setData(null);
        ConfigMap configMap = new ConfigMap();
        configMap.setData(null);
        configMap.setBinaryData(null);

        assertThat(ObjectData.of(secret, DB, MAIN).variables()).isEmpty();
        assertThat(ObjectData.of(configMap, DB, MAIN).files()).isEmpty();
        assertThat(ObjectData.of(configMap, DB, MAIN).variable("key")).isNull();
        assertThat(ObjectData.of(configMap, DB, MAIN).file("key")).isNull();
    }
}
