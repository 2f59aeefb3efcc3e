package dev.podcache.embedded;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The bytes are those of kubectl 1.32. */
class ProtobufBodyTest {

    private static final String SECRET =
            "k8s\0\n\014\n\002v1\022\006Secret\022+\n\026\n\002db\022\0\032\004shop\"\0*\0002\0008\0B\0"
                    + "\022\017\n\010password\022\003h\u00c3\u00bc\032\0\032\0\"\0";
    private static final String CONFIG_MAP =
            "k8s\0\n\017\n\002v1\022\tConfigMap\022)\n\026\n\002cc\022\0\032\004shop\"\0*\0002\0008\0B\0"
                    + "\022\017\n\010password\022\003h\u00c3\u00bc\032\0\"\0";

    @Test
    void decode_secretOfKubectl_isItsJson() {
        ObjectNode secret = ProtobufBody.decode(bytes(SECRET));

        assertThat(secret.path("kind").asText()).isEqualTo("Secret");
        assertThat(secret.path("apiVersion").asText()).isEqualTo("v1");
        assertThat(secret.at("/metadata/name").asText()).isEqualTo("db");
        assertThat(secret.at("/metadata/namespace").asText()).isEqualTo("shop");
        assertThat(secret.at("/data/password").asText()).isEqualTo("aMO8");
    }

    @Test
    void decode_configMapOfKubectl_keepsMultiByteText() {
        ObjectNode configMap = ProtobufBody.decode(bytes(CONFIG_MAP));

        assertThat(configMap.at("/data/password").asText()).isEqualTo("h\u00fc");
    }

    @Test
    void decode_cutAnywhere_isRefusedOrWhole() {
        byte[] whole = bytes(SECRET);
        for (int length = 0; length < 60; length++) {
            byte[] cut = Arrays.copyOf(whole, length);
            assertThatThrownBy(() -> requireName(ProtobufBody.decode(cut)))
                    .as("first %d bytes", length)
                    .isInstanceOf(StatusException.class);
        }
    }

    private static void requireName(ObjectNode object) {
        ObjectNames.forCreate(Resource.SECRETS, "shop", object);
    }

    @Test
    void decode_anotherKind_isRefused() {
        assertThatThrownBy(() -> ProtobufBody.decode(bytes(SECRET.replace("Secret", "Sacred"))))
                .isInstanceOfSatisfying(
                        StatusException.class, e -> assertThat(e.code()).isEqualTo(415));
    }

    @Test
    void decode_json_isRefused() {
        assertThatThrownBy(() -> ProtobufBody.decode(bytes("{\"kind\":\"Secret\"}")))
                .isInstanceOfSatisfying(
                        StatusException.class, e -> assertThat(e.code()).isEqualTo(400));
    }

    /** A length of -6 leads back to where its field begins. */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void decode_negativeLength_isRefused() {
        byte[] endless = bytes("k8s\0\032\u00fa\u00ff\u00ff\u00ff\017");

        assertThatThrownBy(() -> ProtobufBody.decode(endless))
                .isInstanceOfSatisfying(
                        StatusException.class, e -> assertThat(e.code()).isEqualTo(400));
    }

    private static byte[] bytes(String latin1) {
        return latin1.getBytes(ISO_8859_1);
    }
}
